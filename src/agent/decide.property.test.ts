import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { present } from '../lib/assert.ts';
import { toolCallsOf, type Entry, type ToolResultPart } from '../protocol/messages.ts';
import type { CallRecord, CallState, TurnRecord } from '../store/store.ts';
import { mistakenRoundsMax, sameFailureStoppedAt } from './call-history.ts';
import { decide, type Action, type TurnEnding, type TurnLimits } from './decide.ts';
import { JournalBuilder } from './journal-builder.ts';
import type { Journal } from './journal.ts';
import { Life } from './test-life.ts';
import { callsPerAnswer, questionsPerCall, scripts, type Script } from './test-script.ts';

/** As in decide.ts: how often a parked turn's calls are tried to be ended. */
const endingTries = 3;
const runs = { numRuns: 300 };

/** The most actions that a life of this script may have. */
function actionsMax({ limits, outside }: Script): number {
  const messages = 1 + outside.filter((event) => event.kind === 'message').length;
  const cuts = outside.filter((event) => event.kind === 'cut').length;
  // A round is run once, and once more after each question, which is waited for.
  const round = 1 + 2 * callsPerAnswer * questionsPerCall;
  // Opened, asked for a summary, its calls ended, closed; and what a poison costs: the action and settling what it lost.
  const crashes = limits.crashesMax + endingTries;
  const turn = 4 + (limits.modelCallsMax + 1) + limits.modelCallsMax * round + 2 * crashes;
  // Each message opens a turn or joins one. A cut costs the action, settling what it lost, and ending what lives on.
  // The session is named once, and then rests.
  return messages * (turn + 1) + 3 * cuts + outside.length + 2;
}

/** Lives the script to its end, and shows every decision on the way. */
function live(script: Script, look?: (journal: Journal, action: Action, now: number) => void): Life {
  const life = new Life(script);
  const most = actionsMax(script);
  for (let actions = 0; actions <= most; actions++) {
    const { journal, action, now, isOver } = life.step();
    look?.(journal, action, now);
    if (isOver) return life;
  }
  return assert.fail(`still going on after ${most} actions`);
}

test('every life comes to rest within what the limits allow, and nothing is left undone', () => {
  fc.assert(
    fc.property(scripts, (script) => {
      const { session } = live(script);
      const { openTurn, waiting, unsettledCalls, entries } = session.journal();
      assert.deepEqual({ openTurn, waiting, unsettledCalls }, { openTurn: null, waiting: [], unsettledCalls: [] });
      const opened = entries.filter((entry) => entry.kind === 'turn-opened').map((entry) => entry.turnId);
      const closed = entries.filter((entry) => entry.kind === 'turn-closed').map((entry) => entry.turnId);
      assert.deepEqual(closed, opened);
      assert.deepEqual(
        resultsOf(entries)
          .map((result) => result.callId)
          .sort(),
        callsOf(entries).sort(),
      );
    }),
    runs,
  );
});

test('no call is begun again whose start is recorded, unless its tool allows it', () => {
  fc.assert(
    fc.property(scripts, (script) => {
      const never = new Set<string>();
      const { begun } = live(script, (journal, action) => {
        for (const call of journal.unsettledCalls) if (call.replay === 'never') never.add(call.id);
        if (action.kind === 'run-tools') assert.deepEqual(action.calls.filter(isLost), []);
      });
      for (const [id, times] of begun) if (never.has(id)) assert.equal(times, 1);
    }),
    runs,
  );
});

test('no model is called while a call is unanswered, nor after a stop, nor past the budget or the crashes allowed', () => {
  fc.assert(
    fc.property(scripts, (script) => {
      const { modelCallsMax, crashesMax } = script.limits;
      live(script, (journal, action) => {
        if (action.kind !== 'call-model') return;
        const { entries } = journal;
        assert.deepEqual(
          resultsOf(entries)
            .map((result) => result.callId)
            .sort(),
          callsOf(entries).sort(),
        );
        const { stopRequested, crashes, modelCalls } = openTurnOf(journal);
        assert.equal(stopRequested, false);
        assert.ok(crashes < crashesMax);
        assert.ok(modelCalls < modelCallsMax + (action.purpose === 'summarise' ? 1 : 0));
      });
    }),
    runs,
  );
});

test('no model is called that has answered, repeats a failing call, or makes nothing but mistakes', () => {
  fc.assert(
    fc.property(scripts, (script) => {
      live(script, (journal, action) => {
        if (action.kind !== 'call-model') return;
        const ofTurn = entriesOfTurn(journal);
        assert.equal(endsWithAnswer(ofTurn), false);
        assert.ok(mostOfTheSameFailure(ofTurn) < sameFailureStoppedAt);
        assert.ok(mistakenAnswersInARow(ofTurn) < mistakenRoundsMax);
      });
    }),
    runs,
  );
});

test('a turn is closed for the reason that is given, and what lives on by itself is ended before', () => {
  fc.assert(
    fc.property(scripts, (script) => {
      live(script, (journal, action) => {
        if (action.kind !== 'close-turn') return;
        assert.ok(isTrue(action.ending, journal, script.limits), action.ending);
        const alive = action.skip.filter((call) => call.state === 'started' && call.replay === 'attach');
        const { crashes } = openTurnOf(journal);
        if (crashes < script.limits.crashesMax + endingTries) assert.deepEqual(alive, []);
      });
    }),
    runs,
  );
});

test('it is waited only for people, until the first of them is late, and never for a time that has passed', () => {
  fc.assert(
    fc.property(scripts, (script) => {
      live(script, (journal, action, now) => {
        if (action.kind !== 'wait') return;
        const { unsettledCalls } = journal;
        assert.ok(unsettledCalls.every((call) => call.state === 'waiting' && call.answer === null));
        assert.equal(action.until, Math.min(...unsettledCalls.map((call) => call.question?.deadline ?? 0)));
        assert.ok(action.until > now);
      });
    }),
    runs,
  );
});

const now = 1_000;
const limits: TurnLimits = { modelCallsMax: 5, crashesMax: 3, joinWaiting: true, namesSessions: false };
const states: CallState[] = ['planned', 'started', 'waiting', 'finished', 'failed', 'unknown', 'skipped'];
const anyCall = fc.record({
  state: fc.constantFrom(...states),
  replay: fc.constantFrom<CallRecord['replay']>('safe', 'attach', 'never'),
  question: fc.integer({ min: now - 1, max: now + 1 }).map((deadline) => ({ text: '?', choices: null, deadline })),
});
const anyJournal = fc
  .record({
    rounds: fc.array(fc.array(anyCall, { minLength: 1, maxLength: 4 }), { maxLength: 4 }),
    turn: fc.record({ crashes: fc.nat(7), modelCalls: fc.nat(7), stopRequested: fc.boolean() }),
    isNudged: fc.boolean(),
    waiting: fc.nat(2),
  })
  .map(({ rounds, turn, isNudged, waiting }) => {
    const builder = new JournalBuilder().arrives('q').opens(turn);
    for (const round of rounds) builder.answers('', round);
    if (isNudged) builder.isNudged();
    for (let count = 0; count < waiting; count++) builder.arrives('more');
    return builder.build();
  });

test('also in a journal that nothing could have led to, no lost call is run and no model called before all have results', () => {
  fc.assert(
    fc.property(anyJournal, (journal) => {
      const action = decide(journal, limits, now);
      if (action.kind === 'run-tools') assert.deepEqual(action.calls.filter(isLost), []);
      if (action.kind === 'call-model') assert.deepEqual(journal.unsettledCalls, []);
    }),
    runs,
  );
});

function isTrue(ending: TurnEnding, journal: Journal, { crashesMax, modelCallsMax }: TurnLimits): boolean {
  const turn = openTurnOf(journal);
  const ofTurn = entriesOfTurn(journal);
  switch (ending) {
    case 'answered':
      return endsWithAnswer(ofTurn);
    case 'stopped':
      return turn.stopRequested;
    case 'budget-spent':
      return turn.modelCalls > modelCallsMax;
    case 'repeats-itself':
      return mostOfTheSameFailure(ofTurn) >= sameFailureStoppedAt;
    case 'only-mistakes':
      return mistakenAnswersInARow(ofTurn) >= mistakenRoundsMax;
    case 'crashed-repeatedly':
      return turn.crashes >= crashesMax;
  }
}

/** It started, its tool must not be run twice, and nobody knows what became of it. */
function isLost(call: CallRecord): boolean {
  return call.state === 'started' && call.replay === 'never';
}

function openTurnOf(journal: Journal): TurnRecord {
  return present(journal.openTurn, 'an open turn');
}

function entriesOfTurn(journal: Journal): Entry[] {
  return journal.entries.filter((entry) => entry.turnId === journal.openTurn?.id);
}

function endsWithAnswer(entries: readonly Entry[]): boolean {
  const last = entries.findLast((entry) => entry.kind === 'message');
  return last?.message.role === 'assistant' && toolCallsOf(last.message).length === 0;
}

function callsOf(entries: readonly Entry[]): string[] {
  return answersIn(entries).flatMap((calls) => calls.map((call) => call.callId));
}

function answersIn(entries: readonly Entry[]) {
  return entries.flatMap((entry) =>
    entry.kind === 'message' && entry.message.role === 'assistant' ? [toolCallsOf(entry.message)] : [],
  );
}

function resultsOf(entries: readonly Entry[]): ToolResultPart[] {
  return entries.flatMap((entry) =>
    entry.kind === 'message' && entry.message.role === 'tool' ? entry.message.parts : [],
  );
}

function mostOfTheSameFailure(entries: readonly Entry[]): number {
  const failed = new Set(resultsOf(entries).flatMap((result) => (result.outcome === 'failed' ? [result.callId] : [])));
  const calls = answersIn(entries)
    .flat()
    .filter((call) => failed.has(call.callId));
  const same = Map.groupBy(calls, (call) => `${call.name} ${call.arguments}`);
  return Math.max(0, ...[...same.values()].map((group) => group.length));
}

function mistakenAnswersInARow(entries: readonly Entry[]): number {
  const mistakes = new Set(resultsOf(entries).flatMap((result) => (result.mistake === true ? [result.callId] : [])));
  const answers = answersIn(entries).reverse();
  const good = answers.findIndex((calls) => calls.length === 0 || calls.some((call) => !mistakes.has(call.callId)));
  return good === -1 ? answers.length : good;
}
