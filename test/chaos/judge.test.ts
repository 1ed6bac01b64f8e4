/** The judge of the crash tests must be able to fail: each kind of harm, done to a good run by hand, is seen. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countingIdSource, type Id } from '../../src/lib/ids.ts';
import type { CallOutcome, Entry, EntryBody, ToolCallPart } from '../../src/protocol/messages.ts';
import { badColumns, isClean, judge, type Evidence, type SentMessage } from './judge.ts';

const ids = countingIdSource();
const turnId = ids.next('trn');
const modelCallId = ids.next('mdl');
const [mine, another] = [ids.next('inb'), ids.next('inb')];
const callIds = new Map<string, Id<'cal'>>();

function callIdOf(effect: string): Id<'cal'> {
  const known = callIds.get(effect) ?? ids.next('cal');
  callIds.set(effect, known);
  return known;
}

const user = (inboxId: Id<'inb'>): EntryBody => ({
  kind: 'message',
  message: { role: 'user', parts: [{ kind: 'text', text: 'run it' }] },
  inboxId,
});
const answer = (text: string, ...effects: string[]): EntryBody => ({
  kind: 'message',
  message: { role: 'assistant', parts: [{ kind: 'text', text }, ...effects.map(callOf)] },
  modelCallId,
});
const callOf = (effect: string): ToolCallPart => ({
  kind: 'tool-call',
  callId: callIdOf(effect),
  name: 'terminal',
  arguments: JSON.stringify({ command: `/somewhere/effect.sh ${effect} 0` }),
});
const result = (effect: string, outcome: CallOutcome = 'finished'): EntryBody => ({
  kind: 'message',
  message: { role: 'tool', parts: [{ kind: 'tool-result', callId: callIdOf(effect), outcome, text: 'done' }] },
});
const opened: EntryBody = { kind: 'turn-opened' };
const closed: EntryBody = { kind: 'turn-closed', outcome: 'answered' };

function log(...bodies: EntryBody[]): Entry[] {
  return bodies.map((body, index) => ({ ...body, seq: index + 1, at: 0, turnId }));
}

const good = log(opened, user(mine), answer('', 'e1', 'e2'), result('e1'), result('e2'), answer('all done'), closed);
const message: SentMessage = {
  externalId: 'm1',
  inboxId: mine,
  session: 'x',
  answerHas: 'done',
  mayStop: false,
  mayPark: false,
};

function evidence(
  changed: { entries?: Entry[]; shown?: Entry[]; ledger?: string[]; sent?: SentMessage } = {},
): Evidence {
  const { entries = good, shown = [], ledger = ['e1', 'e2'], sent = message } = changed;
  return {
    sent: [sent],
    transcripts: new Map([['x', entries]]),
    shown: new Map([['x', shown]]),
    ledger,
    effectsOfRemoved: new Set(),
  };
}

/** The columns that are not zero. */
function complaints(changed: Parameters<typeof evidence>[0]): string[] {
  const verdict = judge(evidence(changed));
  assert.equal(isClean(verdict), false);
  return badColumns.filter((column) => verdict[column] > 0);
}

test('a good run has nothing in any bad column', () => {
  const verdict = judge(evidence({ shown: good.slice(0, 3) }));
  assert.deepEqual(verdict.problems, []);
  assert.ok(isClean(verdict));
  assert.deepEqual([verdict.acknowledged, verdict.answered, verdict.effects], [1, 1, 2]);
});

test('a message without a place in the log, or without an end, or with other words for an answer, is lost', () => {
  assert.deepEqual(complaints({ sent: { ...message, inboxId: another } }), ['lost']);
  assert.deepEqual(complaints({ entries: good.slice(0, -1) }), ['lost', 'invalidTranscripts']);
  assert.deepEqual(complaints({ sent: { ...message, answerHas: 'something else' } }), ['lost']);
});

test('a message that stands twice in the log, or has two answers, is doubled', () => {
  assert.deepEqual(complaints({ entries: log(opened, user(mine), user(mine), answer('done'), closed), ledger: [] }), [
    'doubled',
  ]);
  assert.deepEqual(
    complaints({ entries: log(opened, user(mine), answer('done'), answer('done'), closed), ledger: [] }),
    ['doubled'],
  );
});

test('a turn that is closed twice makes the transcript invalid', () => {
  assert.deepEqual(complaints({ entries: log(opened, user(mine), answer('done'), closed, closed), ledger: [] }), [
    'invalidTranscripts',
  ]);
});

test('a call without a result, with two, or with one after the next message, makes the transcript invalid', () => {
  const without = log(opened, user(mine), answer('', 'e1'), answer('done'), closed);
  const twice = log(opened, user(mine), answer('', 'e1'), result('e1'), result('e1'), answer('done'), closed);
  const late = log(opened, user(mine), answer('', 'e1'), answer('done'), result('e1'), closed);
  for (const entries of [without, twice, late])
    assert.deepEqual(complaints({ entries, ledger: ['e1'] }), ['invalidTranscripts']);
});

test('an effect that happened twice is seen, whatever the calls say', () => {
  assert.deepEqual(complaints({ ledger: ['e1', 'e2', 'e1'] }), ['repeatedEffects']);
});

test('an effect without a call, of a skipped call, or missing after a finished one, is seen', () => {
  assert.deepEqual(complaints({ ledger: ['e1', 'e2', 'e3'] }), ['effectsWithoutCall']);
  assert.deepEqual(complaints({ ledger: ['e1'] }), ['effectsMissing']);
  const skipped = log(opened, user(mine), answer('', 'e1'), result('e1', 'skipped'), answer('done'), closed);
  assert.deepEqual(complaints({ entries: skipped, ledger: ['e1'] }), ['effectsWithoutCall']);
});

test('an effect of unknown outcome may have happened or not', () => {
  const entries = log(opened, user(mine), answer('', 'e1'), result('e1', 'unknown'), answer('done'), closed);
  for (const ledger of [[], ['e1']]) assert.ok(isClean(judge(evidence({ entries, ledger }))));
});

test('an entry that was shown and is not what is stored is seen', () => {
  assert.deepEqual(complaints({ shown: log(opened, user(another)) }), ['shownButNotStored']);
});

test('a turn may be parked only after three kills, and stopped only if someone asked for it', () => {
  const ended = (outcome: 'parked' | 'stopped') => log(opened, user(mine), { kind: 'turn-closed', outcome });
  assert.deepEqual(complaints({ entries: ended('parked'), ledger: [] }), ['parkedTooEarly']);
  assert.deepEqual(complaints({ entries: ended('stopped'), ledger: [] }), ['lost']);
  const sent = { ...message, mayPark: true, mayStop: true };
  assert.ok(isClean(judge(evidence({ entries: ended('parked'), ledger: [], sent }))));
  assert.ok(isClean(judge(evidence({ entries: ended('stopped'), ledger: [], sent }))));
});

test('a parked turn that was tried again and answered is answered', () => {
  const parked: EntryBody = { kind: 'turn-closed', outcome: 'parked' };
  const entries = log(opened, user(mine), parked, opened, answer('done'), closed);
  const verdict = judge(evidence({ entries, ledger: [] }));
  assert.deepEqual([isClean(verdict), verdict.answered, verdict.parked], [true, 1, 0]);
});
