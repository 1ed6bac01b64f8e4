import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countingIdSource } from '../lib/ids.ts';
import { applyLive, liveOutputCharsMax, type LiveTurn, type SessionEvent } from './events.ts';

const ids = countingIdSource();
const turnId = ids.next('trn');
const callId = ids.next('cal');
const fold = (events: SessionEvent[], start: LiveTurn | null = null) => events.reduce(applyLive, start);

test('deltas grow the draft, and clearing it leaves the calls', () => {
  const turn = fold([
    { kind: 'turn-started', turnId },
    { kind: 'reasoning-delta', turnId, text: 'hm' },
    { kind: 'text-delta', turnId, text: 'a' },
    { kind: 'text-delta', turnId, text: 'b' },
    { kind: 'call-started', turnId, callId, name: 'terminal', arguments: '{}' },
    { kind: 'call-output', turnId, callId, text: 'x' },
  ]);
  const calls = [{ callId, name: 'terminal', arguments: '{}', output: 'x' }];
  assert.deepEqual(turn, { turnId, text: 'ab', reasoning: 'hm', calls, status: '' });
  assert.deepEqual(applyLive(turn, { kind: 'draft-cleared', turnId }), {
    turnId,
    text: '',
    reasoning: '',
    calls,
    status: '',
  });
});

test('a status stands until the next one replaces it', () => {
  const waiting = { kind: 'status', turnId, text: 'Trying again in 2 s.' } as const;
  const turn = fold([{ kind: 'turn-started', turnId }, waiting]);
  assert.equal(turn?.status, 'Trying again in 2 s.');
  assert.equal(applyLive(turn, { ...waiting, text: '' })?.status, '');
});

test('what a call prints is kept to its newest part', () => {
  const turn = fold([
    { kind: 'turn-started', turnId },
    { kind: 'call-started', turnId, callId, name: 'terminal', arguments: '{}' },
    { kind: 'call-output', turnId, callId, text: 'old' },
    { kind: 'call-output', turnId, callId, text: 'n'.repeat(liveOutputCharsMax) },
  ]);
  assert.equal(turn?.calls[0]?.output, 'n'.repeat(liveOutputCharsMax));
});

test('the stored end of the turn ends what is live, and late events of an old turn change nothing', () => {
  const turn = fold([{ kind: 'turn-started', turnId }]);
  const entry = { kind: 'turn-closed', outcome: 'answered', seq: 9, at: 0, turnId } as const;
  assert.equal(applyLive(turn, { kind: 'entry', entry }), null);
  assert.deepEqual(applyLive(turn, { kind: 'text-delta', turnId: ids.next('trn'), text: 'late' }), turn);
  assert.equal(applyLive(null, { kind: 'text-delta', turnId, text: 'late' }), null);
});
