import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LiveDisplay } from '../../channels/channel.ts';
import { FakeClock } from '../../lib/fake-clock.ts';
import { silentLog } from '../../lib/log.ts';
import { LiveDraft } from './live-draft.ts';

/** Drafts that change all the time, and when the platform was asked to show each of them. */
async function changesOf(targets: readonly string[], turnInMs?: (now: number) => number): Promise<number[][]> {
  const clock = new FakeClock();
  const startedAt = clock.now();
  const changedAt = targets.map((): number[] => []);
  const closing = new AbortController().signal;
  const note = () => Promise.resolve();
  const drafts = targets.map((target, index) => {
    const live: LiveDisplay = {
      editEveryMs: 1_000,
      ...(turnInMs === undefined ? {} : { turnInMs: () => turnInMs(clock.now() - startedAt) }),
      typingMs: 0,
      typing: () => Promise.resolve(),
      draft: () => Promise.resolve((changedAt[index]?.push(clock.now() - startedAt), 'm1')),
      remove: () => Promise.resolve(),
    };
    const draft = new LiveDraft({ live, target, clock, log: silentLog, note, mayBegin: () => true, closing }, null);
    draft.show((now) => ({ text: `${now}`, gist: `${now}`, beatMs: 10_000 }));
    return draft;
  });
  for (let looks = 0; looks < 195; looks += 1) {
    for (const draft of drafts) draft.changed();
    await clock.advance(100);
  }
  for (const draft of drafts) await draft.hold();
  return changedAt;
}

test('a draft changes as often as the platform allows', async () => {
  const everySecond = Array.from({ length: 19 }, (_, index) => (index + 1) * 1_000);
  assert.deepEqual(await changesOf(['direct']), [everySecond]);
});

test('drafts that share a limit take turns, each as often as the others', async () => {
  let nextTurnAt = 0;
  const turnInMs = (now: number) => {
    const turnAt = Math.max(now, nextTurnAt);
    nextTurnAt = turnAt + 3_000;
    return turnAt - now;
  };
  assert.deepEqual(await changesOf(['group', 'group/5'], turnInMs), [
    [1_000, 7_000, 13_000, 19_000],
    [4_000, 10_000, 16_000],
  ]);
});
