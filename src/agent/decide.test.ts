import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { CallState } from '../store/store.ts';
import { decide, type TurnLimits } from './decide.ts';
import { JournalBuilder } from './journal-builder.ts';
import type { Journal } from './journal.ts';

const limits: TurnLimits = { modelCallsMax: 5, crashesMax: 3, joinWaiting: true };
const asked = (over = {}) => new JournalBuilder().arrives('hello').opens(over);

test('with nothing stored there is nothing to do', () => {
  assert.deepEqual(decide(new JournalBuilder().build(), limits), { kind: 'rest' });
});

test('waiting messages open a turn together', () => {
  const journal = new JournalBuilder().arrives('one').arrives('two').build();
  assert.deepEqual(decide(journal, limits), { kind: 'open-turn', promote: journal.waiting.map((record) => record.id) });
});

test('a question without an answer goes to the model', () => {
  assert.equal(decide(asked().build(), limits).kind, 'call-model');
});

test('planned calls are run, and their results go back to the model', () => {
  assert.equal(
    decide(
      asked()
        .answers('', [{ state: 'planned' }])
        .build(),
      limits,
    ).kind,
    'run-tools',
  );
  assert.equal(
    decide(
      asked()
        .answers('', [{ state: 'finished' }])
        .build(),
      limits,
    ).kind,
    'call-model',
  );
});

test('an answer without calls closes the turn, even if a message has come in since', () => {
  const action = decide(asked().answers('done').arrives('more').build(), limits);
  assert.equal(action.kind === 'close-turn' && action.ending, 'answered');
});

test('a message that arrives mid-turn joins before the next model call, unless it is to wait', () => {
  const journal = asked()
    .answers('', [{ state: 'finished' }])
    .arrives('more')
    .build();
  assert.equal(decide(journal, limits).kind, 'join-turn');
  assert.equal(decide(journal, { ...limits, joinWaiting: false }).kind, 'call-model');
});

test('a started call that must not be replayed is settled as unknown before anything else', () => {
  const calls = [{ state: 'finished' }, { state: 'started' }, { state: 'planned' }] as const;
  for (const over of [{}, { stopRequested: true }, { crashes: 3 }]) {
    const action = decide(
      asked(over)
        .answers('', [...calls])
        .build(),
      limits,
    );
    assert.equal(action.kind, 'settle-unknown');
    assert.deepEqual(action.kind === 'settle-unknown' && action.calls.map((call) => call.position), [1]);
  }
});

test('a started call that may be replayed is run again', () => {
  const journal = asked()
    .answers('', [{ state: 'started', replay: 'safe' }])
    .build();
  const action = decide(journal, limits);
  assert.deepEqual(action.kind === 'run-tools' && action.calls, journal.unsettledCalls);
});

test('a stop skips what has not run', () => {
  const journal = asked({ stopRequested: true })
    .answers('', [{ state: 'finished' }, { state: 'planned' }])
    .build();
  const action = decide(journal, limits);
  assert.equal(action.kind === 'close-turn' && action.ending, 'stopped');
  assert.deepEqual(action.kind === 'close-turn' && action.skip, journal.unsettledCalls);
});

test('a turn that took the process down three times is parked', () => {
  const action = decide(asked({ crashes: 3 }).build(), limits);
  assert.equal(action.kind === 'close-turn' && action.ending, 'crashed-repeatedly');
});

test('a turn that used up its model calls ends instead of asking again', () => {
  const action = decide(
    asked({ modelCalls: 5 })
      .answers('', [{ state: 'finished' }])
      .build(),
    limits,
  );
  assert.equal(action.kind === 'close-turn' && action.ending, 'budget-spent');
});

const callState = fc.constantFrom<CallState>('planned', 'started', 'finished', 'failed', 'unknown', 'skipped');
const call = fc.record({ state: callState, replay: fc.constantFrom('safe' as const, 'never' as const) });
const journals = fc
  .record({
    closedTurns: fc.nat(2),
    finishedRounds: fc.nat(2),
    lastRound: fc.array(call, { maxLength: 4 }),
    answered: fc.boolean(),
    waiting: fc.nat(3),
    crashes: fc.nat(4),
    modelCalls: fc.nat(7),
    stopRequested: fc.boolean(),
    open: fc.boolean(),
  })
  .map((shape): Journal => {
    const builder = new JournalBuilder();
    for (let turn = 0; turn < shape.closedTurns; turn++) builder.arrives('q').opens().answers('a').closes();
    const { crashes, modelCalls, stopRequested } = shape;
    if (shape.open) {
      builder.arrives('q').opens({ crashes, modelCalls, stopRequested });
      for (let round = 0; round < shape.finishedRounds; round++) builder.answers('', [{ state: 'finished' }]);
      if (shape.lastRound.length > 0) builder.answers('', shape.lastRound);
      else if (shape.answered) builder.answers('a');
    }
    for (let count = 0; count < shape.waiting; count++) builder.arrives('more');
    return builder.build();
  });

test('never runs a call again whose start is recorded, unless the tool allows it', () => {
  fc.assert(
    fc.property(journals, (journal) => {
      const action = decide(journal, limits);
      if (action.kind !== 'run-tools') return;
      for (const record of action.calls) assert.ok(record.state === 'planned' || record.replay === 'safe');
    }),
  );
});

test('never calls a model while a call has no result, and never past the budget or a stop', () => {
  fc.assert(
    fc.property(journals, (journal) => {
      if (decide(journal, limits).kind !== 'call-model') return;
      assert.deepEqual(journal.unsettledCalls, []);
      assert.ok((journal.openTurn?.modelCalls ?? 0) < limits.modelCallsMax);
      assert.equal(journal.openTurn?.stopRequested, false);
    }),
  );
});

test('rests only when no turn is open and no message waits', () => {
  fc.assert(
    fc.property(journals, (journal) => {
      const rests = decide(journal, limits).kind === 'rest';
      assert.equal(rests, journal.openTurn === null && journal.waiting.length === 0);
    }),
  );
});
