import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { countingIdSource } from '../lib/ids.ts';
import type { LiveEvent } from '../protocol/events.ts';
import type { Entry } from '../protocol/messages.ts';
import { afterEvent, enterTurn, idleMs, type Activity } from './activity.ts';

const ids = countingIdSource();
const turnId = ids.next('trn');
const callId = ids.next('cal');
const stuck: Activity = { at: 1_000, description: 'terminal: npm test', modelCalls: 7 };
const answer: Entry = {
  kind: 'message',
  message: { role: 'assistant', parts: [] },
  modelCallId: ids.next('mdl'),
  seq: 9,
  at: 0,
  turnId,
};

void describe('the inactivity clock', () => {
  void test('C49 a fresh message sets the activity time to now', () => {
    assert.equal(enterTurn(stuck, 0, 500_000).at, 500_000);
    assert.equal(enterTurn(null, 0, 500_000).at, 500_000);
  });

  void test('C50 its description becomes "starting new turn (cached)"', () => {
    assert.equal(enterTurn(stuck, 0, 500_000).description, 'starting new turn (cached)');
  });

  void test('C51 a re-entry after an interrupt keeps the time', () => {
    assert.equal(enterTurn(stuck, 1, 500_000).at, 1_000);
  });

  void test('C52 and the description: the two are one unit', () => {
    assert.equal(enterTurn(stuck, 1, 500_000).description, 'terminal: npm test');
  });

  void test('C53 at any depth above 0', () => {
    for (const depth of [1, 2, 3, 50]) {
      assert.deepEqual(enterTurn(stuck, depth, 500_000), { ...stuck, modelCalls: 0 });
    }
  });

  void test('C54 the count of model calls goes to 0 at every depth', () => {
    for (const depth of [0, 1, 2]) {
      const counted = afterEvent(stuck, { kind: 'entry', entry: answer }, null, 2_000);
      assert.equal(counted.modelCalls, 8);
      assert.equal(enterTurn(counted, depth, 3_000).modelCalls, 0);
    }
  });

  void test('C55 a turn stuck for 1750 s and interrupted still shows 1750 s', () => {
    const now = stuck.at + 1_750_000;
    assert.equal(idleMs(enterTurn(stuck, 1, now), now), 1_750_000);
    assert.equal(idleMs(enterTurn(stuck, 0, now), now), 0);
  });

  void test('what a model or a tool says, begins or ends is a sign of life', () => {
    const call = { callId, name: 'terminal', arguments: '{"command":"ls"}', output: '' };
    const turn = { turnId, text: '', reasoning: '', calls: [call], status: '' };
    const signs: readonly [LiveEvent, string][] = [
      [{ kind: 'text-delta', turnId, text: 'a' }, 'the model was writing'],
      [{ kind: 'reasoning-delta', turnId, text: 'a' }, 'the model was thinking'],
      [{ kind: 'call-started', turnId, callId, name: 'terminal', arguments: '{"command":"ls"}' }, 'terminal: ls'],
      [{ kind: 'call-output', turnId, callId, text: 'a' }, 'terminal: ls'],
      [{ kind: 'call-ended', turnId, callId, outcome: 'finished' }, 'a tool ended'],
      [{ kind: 'status', turnId, text: 'Trying again in 5 s.' }, 'Trying again in 5 s.'],
    ];
    for (const [event, description] of signs) {
      assert.deepEqual(afterEvent(stuck, event, turn, 9_000), { at: 9_000, description, modelCalls: 7 });
    }
  });

  void test('that somebody still waits, or begins, is none', () => {
    const events: readonly LiveEvent[] = [
      { kind: 'status', turnId, text: 'Still waiting for test/test.' },
      { kind: 'status', turnId, text: '' },
      { kind: 'turn-started', turnId },
      { kind: 'draft-cleared', turnId },
      { kind: 'trouble', text: 'The disk is full.' },
    ];
    for (const event of events) assert.equal(afterEvent(stuck, event, null, 9_000), stuck);
  });
});
