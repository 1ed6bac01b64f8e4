import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LiveDisplay } from '../../channels/channel.ts';
import { FakeClock } from '../../lib/fake-clock.ts';
import { silentLog } from '../../lib/log.ts';
import { LiveDraft } from './live-draft.ts';

test('a draft changes as often as its place allows', async () => {
  for (const [target, atMs] of [
    ['direct', [1_000, 2_000, 3_000, 4_000, 5_000, 6_000, 7_000]],
    ['group', [3_000, 6_000]],
  ] as const) {
    const clock = new FakeClock();
    const startedAt = clock.now();
    const changedAt: number[] = [];
    const live: LiveDisplay = {
      editEveryMs: 1_000,
      editEveryMsAt: (place) => (place === 'group' ? 3_000 : 1_000),
      typingMs: 0,
      typing: () => Promise.resolve(),
      draft: () => Promise.resolve((changedAt.push(clock.now() - startedAt), 'm1')),
      remove: () => Promise.resolve(),
    };
    const closing = new AbortController().signal;
    const note = () => Promise.resolve();
    const draft = new LiveDraft({ live, target, clock, log: silentLog, note, mayBegin: () => true, closing }, null);
    draft.show((now) => ({ text: `${now}`, gist: `${now}`, beatMs: 10_000 }));
    for (let looks = 0; looks < 75; looks += 1) {
      draft.changed();
      await clock.advance(100);
    }
    await draft.hold();
    assert.deepEqual(changedAt, atMs);
  }
});
