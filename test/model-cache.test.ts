/** The providers' caches and the whole program: nothing that happens to a session costs a token that was cached. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { liveThrough, subjects, type Plan } from '../bench/prompt-cache-session.ts';
import { summarise } from './model-server/cache-summary.ts';

const plan: Plan = {
  turns: 9,
  trouble: { 3: 'evict', 4: 'restart', 6: 'kill', 8: 'fall-back' },
  words: { 5: 'many 30 run echo call # of thirty', 6: 'run sleep 0.5 then run echo after the sleep' },
};

for (const subject of subjects) {
  test(`C93 ${subject.name}: after eviction, restart, kill and fallback a prompt begins as before, and is cached`, async () => {
    const { requests, evictions, breaks, failed } = await liveThrough(subject, plan);
    const ours = summarise(requests.filter(({ model }) => model === subject.model));
    const others = summarise(requests.filter(({ model }) => model === subject.fallback));
    assert.deepEqual(
      requests.flatMap(({ problem }) => (problem === null ? [] : [problem])),
      [],
    );
    assert.deepEqual(ours.missed, []);
    assert.equal(ours.cached, ours.atBest);
    assert.ok(ours.cached > 0 && others.requests > 1 && evictions > 0);
    assert.equal(failed, 0);
    assert.deepEqual(
      [...breaks],
      [
        ['first-call', 1],
        ['other-model', 1],
      ],
    );
  });
}
