import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { CallState } from '../store/store.ts';
import { decide as decideAt, type TurnLimits } from './decide.ts';
import { JournalBuilder } from './journal-builder.ts';
import type { Journal } from './journal.ts';

const limits: TurnLimits = { modelCallsMax: 5, crashesMax: 3, joinWaiting: true, namesSessions: false };
const now = 1_000;
const decide = (journal: Journal, given: TurnLimits) => decideAt(journal, given, now);
const asked = (over = {}) => new JournalBuilder().arrives('hello').opens(over);

test('with nothing stored there is nothing to do', () => {
  assert.deepEqual(decide(new JournalBuilder().build(), limits), { kind: 'rest' });
});

test('waiting messages open a turn together', () => {
  const journal = new JournalBuilder().arrives('one').arrives('two').build();
  assert.deepEqual(decide(journal, limits), { kind: 'open-turn', promote: journal.waiting.map((record) => record.id) });
});

test('a message with a turn of its own opens one alone, and those before it are answered first', () => {
  const journal = new JournalBuilder().arrives('one').arrives('two').arrives('three').arrives('four').build();
  const waiting = journal.waiting.map((record, index) =>
    index === 1 || index === 2 ? { ...record, message: { ...record.message, hasOwnTurn: true as const } } : record,
  );
  const promoted = [];
  for (let left = waiting; left.length > 0;) {
    const action = decide({ ...journal, waiting: left }, limits);
    assert.ok(action.kind === 'open-turn');
    promoted.push(action.promote.map((id) => waiting.findIndex((record) => record.id === id)));
    left = left.slice(action.promote.length);
  }
  assert.deepEqual(promoted, [[0], [1], [2], [3]]);
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
  const patient = { ...journal, waiting: journal.waiting.map((record) => ({ ...record, joins: false })) };
  assert.equal(decide(patient, limits).kind, 'call-model', 'it says itself that it waits');
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
    assert.equal(action.kind, 'settle-lost');
    assert.deepEqual(action.kind === 'settle-lost' && action.calls.map((call) => call.position), [1]);
  }
});

test('a started call that may be replayed is run again', () => {
  const journal = asked()
    .answers('', [{ state: 'started', replay: 'safe' }])
    .build();
  const action = decide(journal, limits);
  assert.deepEqual(action.kind === 'run-tools' && action.calls, journal.unsettledCalls);
});

test('a call that asked a person waits until its deadline, then goes on without an answer', () => {
  const asks = (deadline: number) =>
    asked()
      .answers('', [{ state: 'waiting', question: { text: 'May I?', choices: null, deadline } }])
      .build();
  assert.deepEqual(decide(asks(now + 5), limits), { kind: 'wait', until: now + 5 });
  assert.equal(decide(asks(now), limits).kind, 'run-tools');
  const answered = {
    ...asks(now + 5),
    unsettledCalls: asks(now + 5).unsettledCalls.map((call) => ({ ...call, answer: 'yes' })),
  };
  assert.equal(decide(answered, limits).kind, 'run-tools');
});

test('a stop skips what has not run', () => {
  const journal = asked({ stopRequested: true })
    .answers('', [{ state: 'finished' }, { state: 'planned' }])
    .build();
  const action = decide(journal, limits);
  assert.equal(action.kind === 'close-turn' && action.ending, 'stopped');
  assert.deepEqual(action.kind === 'close-turn' && action.skip, journal.unsettledCalls);
});

test('what lives on by itself is ended before its turn is, unless that takes the process down', () => {
  const alive = { state: 'started', replay: 'attach' } as const;
  for (const over of [{ stopRequested: true }, { crashes: 3 }, { modelCalls: 6 }]) {
    const journal = asked(over)
      .answers('', [alive, { state: 'planned' }])
      .build();
    const action = decide(journal, limits);
    assert.deepEqual(action.kind === 'end-calls' && action.calls, journal.unsettledCalls.slice(0, 1));
  }
  assert.equal(decide(asked({ crashes: 6 }).answers('', [alive]).build(), limits).kind, 'close-turn');
});

test('a turn that took the process down three times is parked', () => {
  const action = decide(asked({ crashes: 3 }).build(), limits);
  assert.equal(action.kind === 'close-turn' && action.ending, 'crashed-repeatedly');
});

test('a turn that used up its model calls is asked for a summary, once, and then ended', () => {
  const spent = () => asked({ modelCalls: 5 }).answers('', [{ state: 'finished' }]);
  assert.equal(decide(spent().build(), limits).kind, 'ask-for-summary');
  const last = decide(spent().isNudged().build(), limits);
  assert.equal(last.kind === 'call-model' && last.purpose, 'summarise');
  const over = decide(
    asked({ modelCalls: 6 })
      .answers('', [{ state: 'planned' }])
      .build(),
    limits,
  );
  assert.deepEqual(over.kind === 'close-turn' && [over.ending, over.skip.length], ['budget-spent', 1]);
});

test('a call that fails over and over ends the turn', () => {
  const failing = (times: number) => {
    const builder = asked();
    for (let count = 0; count < times; count++) builder.answers('', [{ state: 'failed' }]);
    return decide(builder.build(), limits);
  };
  assert.equal(failing(4).kind, 'call-model');
  const action = failing(5);
  assert.equal(action.kind === 'close-turn' && action.ending, 'repeats-itself');
});

test('three answers with nothing but mistaken calls end the turn; a good one in between starts the count anew', () => {
  const mistaken = [{ state: 'failed', mistake: true, arguments: '{}' }] as const;
  const rounds = (...kinds: ('mistaken' | 'good')[]) => {
    const builder = asked();
    for (const [index, kind] of kinds.entries()) {
      builder.answers(
        '',
        kind === 'good' ? [{ state: 'finished' }] : [{ ...mistaken[0], arguments: `{"n":${index}}` }],
      );
    }
    return decide(builder.build(), limits);
  };
  assert.equal(rounds('mistaken', 'mistaken').kind, 'call-model');
  assert.equal(rounds('mistaken', 'mistaken', 'good', 'mistaken').kind, 'call-model');
  const action = rounds('good', 'mistaken', 'mistaken', 'mistaken');
  assert.equal(action.kind === 'close-turn' && action.ending, 'only-mistakes');
});

test('a started call that can be taken up again is taken up, not given up', () => {
  const journal = asked()
    .answers('', [{ state: 'started', replay: 'attach' }])
    .build();
  const action = decide(journal, limits);
  assert.deepEqual(action.kind === 'run-tools' && action.calls, journal.unsettledCalls);
});

const callState = fc.constantFrom<CallState>('planned', 'started', 'finished', 'failed', 'unknown', 'skipped');
const call = fc.record({
  state: callState,
  replay: fc.constantFrom('safe' as const, 'attach' as const, 'never' as const),
});
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
      for (const record of action.calls) assert.ok(record.state === 'planned' || record.replay !== 'never');
    }),
  );
});

test('never calls a model while a call has no result, and never past the budget or a stop', () => {
  fc.assert(
    fc.property(journals, (journal) => {
      if (decide(journal, limits).kind !== 'call-model') return;
      assert.deepEqual(journal.unsettledCalls, []);
      assert.ok((journal.openTurn?.modelCalls ?? 0) <= limits.modelCallsMax);
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

test('a session is named after an answer, and no longer tried after several', () => {
  const naming = { ...limits, namesSessions: true };
  const builder = new JournalBuilder();
  const kinds = [decide(builder.build(), naming).kind];
  for (let turn = 1; turn <= 6; turn += 1) {
    builder.arrives('hello').opens().answers('yes').closes();
    kinds.push(decide(builder.build(), naming).kind);
  }
  assert.deepEqual(kinds, ['rest', ...Array<string>(5).fill('name-session'), 'rest']);
});

test('a prompt that is too long is shortened before the model is called, and only then', () => {
  const long = new JournalBuilder().arrives('x'.repeat(4_000)).opens();
  assert.deepEqual(decide(long.build(), { ...limits, compressAt: 500 }), { kind: 'compress', why: 'threshold' });
  assert.equal(decide(long.build(), { ...limits, compressAt: 5_000 }).kind, 'call-model');
  assert.equal(decide(long.build(), { ...limits, compressAt: null }).kind, 'call-model');
  assert.equal(decide(long.build(), limits).kind, 'call-model');
});

test('it is not shortened over calls that have no result, nor in a turn that ends', () => {
  const waits = new JournalBuilder()
    .arrives('x'.repeat(4_000))
    .opens()
    .answers('', [{ state: 'planned' }]);
  assert.equal(decide(waits.build(), { ...limits, compressAt: 1 }).kind, 'run-tools');
  const ends = new JournalBuilder().arrives('x'.repeat(4_000)).opens().answers('done');
  assert.equal(decide(ends.build(), { ...limits, compressAt: 1 }).kind, 'close-turn');
});

test('after an attempt that won too little the prompt must grow by a quarter before the next one', () => {
  const tried = (tokens: number) =>
    new JournalBuilder().arrives('x'.repeat(4_000)).opens().compression({ kind: 'declined', tokens }).build();
  assert.equal(decide(tried(1_000), { ...limits, compressAt: 500 }).kind, 'call-model');
  assert.equal(decide(tried(700), { ...limits, compressAt: 500 }).kind, 'compress');
});

test('what a person asks for is done at once, between turns too, and once', () => {
  const asked = { kind: 'asked', why: 'person', topic: '', place: null } as const;
  const between = () => new JournalBuilder().arrives('q').opens().answers('a').closes().compression(asked);
  assert.deepEqual(decide(between().build(), limits), { kind: 'compress', why: 'person' });
  assert.equal(decide(between().compression({ kind: 'begun' }).build(), limits).kind, 'compress');
  assert.equal(decide(between().compression({ kind: 'declined', tokens: 1 }).build(), limits).kind, 'rest');
  const within = new JournalBuilder().arrives('q').opens().compression(asked).build();
  assert.deepEqual(decide(within, limits), { kind: 'compress', why: 'person' });
});
