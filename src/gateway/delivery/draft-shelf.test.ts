import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Channel } from '../../channels/channel.ts';
import { FakeClock } from '../../lib/fake-clock.ts';
import { countingIdSource } from '../../lib/ids.ts';
import { silentLog } from '../../lib/log.ts';
import { DraftShelf, standingMaxMs, type DraftShelfDeps } from './draft-shelf.ts';

const ids = countingIdSource();
const sessionId = ids.next('ses');
const place = { channel: 'tele', target: 'chat' };

/** A platform that fails to take drafts away as often as it is told to, and a store that remembers one draft. */
function stage(left: string | null, failures = 0) {
  const clock = new FakeClock();
  const standing = new Set(left === null ? [] : [left]);
  const noted: (string | null)[] = [left];
  const state = { failures, removals: 0, drafts: 0 };
  const channel: Channel = {
    name: 'tele',
    limits: { textCharsMax: null, dedupes: false },
    live: {
      editEveryMs: 1_000,
      typingMs: 0,
      typing: () => Promise.resolve(),
      draft(_target, _text, platformId) {
        const id = platformId ?? `new ${++state.drafts}`;
        standing.add(id);
        return Promise.resolve(id);
      },
      remove(_target, platformId) {
        state.removals += 1;
        if (state.failures-- > 0) return Promise.reject(new Error('not now'));
        standing.delete(platformId);
        return Promise.resolve();
      },
    },
    start: () => Promise.resolve(),
    stop: () => Promise.resolve(),
    deliver: () => Promise.resolve({ kind: 'failed', error: 'nothing is delivered here' }),
  };
  const store: DraftShelfDeps['store'] = {
    noteDraft: (_sessionId, draft) => Promise.resolve(void noted.push(draft?.platformId ?? null)),
    read: {
      journal: () => Promise.resolve(null),
      drafts: () => Promise.resolve(left === null ? [] : [{ ...place, sessionId, platformId: left }]),
    },
  };
  const shelf = new DraftShelf({ store, clock, log: silentLog, channels: new Map([['tele', channel]]) });
  return { clock, standing, noted, state, shelf };
}

const picture = () => ({ text: 'at work', gist: 'at work', beatMs: 60_000 });

test('a draft that could not be taken away is tried again, and is on record until it is gone', async () => {
  const { clock, standing, noted, shelf } = stage('old', 2);
  await shelf.recover();
  await clock.advance(standingMaxMs);
  assert.deepEqual([[...standing], noted], [['old'], ['old']]);
  await clock.advance(3_000);
  assert.deepEqual([[...standing], noted], [[], ['old', null]]);
});

test('a draft that can not be taken away stays on record for the next process', async () => {
  const { clock, standing, noted, state, shelf } = stage('old', 100);
  await shelf.recover();
  await clock.advance(standingMaxMs + 600_000);
  assert.deepEqual([[...standing], noted, state.removals], [['old'], ['old'], 6]);
});

test('another draft is begun only when the one that an earlier process left is gone: the store remembers one', async () => {
  const { clock, standing, noted, shelf } = stage('old', 1);
  await shelf.recover();
  const next = shelf.put(sessionId, ids.next('trn'), place, null);
  next?.draft.show(picture);
  await clock.advance(1_000);
  assert.deepEqual([[...standing], noted], [['old'], ['old']]);
  await clock.advance(20_000);
  assert.deepEqual([[...standing], noted], [['new 1'], ['old', null, 'new 1']]);
});

test('closing ends the tries', async () => {
  const { clock, state, shelf } = stage('old', 100);
  await shelf.recover();
  await clock.advance(standingMaxMs);
  await shelf.close();
  await clock.advance(600_000);
  assert.equal(state.removals, 1);
});
