/** The judge of the crash tests must be able to fail: each kind of harm, done to a good run by hand, is seen. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countingIdSource, type Id } from '../../src/lib/ids.ts';
import type { CallOutcome, Entry, EntryBody, ToolCallPart } from '../../src/protocol/messages.ts';
import { repetitionMark } from '../../src/gateway/delivery/deliver.ts';
import { badColumns, isClean, judge, type Evidence, type SentMessage } from './judge.ts';
import type { ChatView } from './judge-platform.ts';
import type { ChatKind } from './platform-book.ts';

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
const result = (effect: string, outcome: CallOutcome = 'finished', text = 'done'): EntryBody => ({
  kind: 'message',
  message: { role: 'tool', parts: [{ kind: 'tool-result', callId: callIdOf(effect), outcome, text }] },
});
const opened: EntryBody = { kind: 'turn-opened' };
const closed: EntryBody = { kind: 'turn-closed', outcome: 'answered' };

function log(...bodies: EntryBody[]): Entry[] {
  let current = turnId;
  return bodies.map((body, index) => {
    const before = bodies[index - 1];
    // A parked turn that is opened is the same one again.
    const isNext = body.kind === 'turn-opened' && before?.kind === 'turn-closed' && before.outcome !== 'parked';
    if (isNext) current = ids.next('trn');
    return { ...body, seq: index + 1, at: 0, turnId: current };
  });
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
  changed: {
    entries?: Entry[];
    shown?: Entry[];
    ledger?: string[];
    sent?: SentMessage;
    chat?: Omit<ChatView, 'session'>;
    rejected?: string[];
    prefixBreaks?: number;
  } = {},
): Evidence {
  const {
    entries = good,
    shown = [],
    ledger = ['e1', 'e2'],
    sent = message,
    chat,
    rejected = [],
    prefixBreaks = 0,
  } = changed;
  return {
    sent: [sent],
    transcripts: new Map([['x', entries]]),
    shown: new Map([['x', shown]]),
    telegram: [],
    chats: chat === undefined ? [] : [{ ...chat, session: 'x' }],
    model: { requests: 0, faults: 0, rejected },
    prefixBreaks,
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

test('a call that failed is seen, unless somebody stopped it', () => {
  const failed = (text: string) => ({
    entries: log(opened, user(mine), answer('', 'e1'), result('e1', 'failed', text), answer('done'), closed),
    ledger: [],
  });
  assert.deepEqual(complaints(failed("The sandbox can't be used.")), ['effectsMissing']);
  assert.ok(isClean(judge(evidence(failed('[stopped before it finished]')))));
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

test('a prompt that broke its prefix is seen', () => {
  assert.deepEqual(complaints({ prefixBreaks: 1 }), ['prefixBreaks']);
});

test('a request that the model server calls invalid counts as an invalid transcript', () => {
  assert.deepEqual(complaints({ rejected: ['messages.3: a result without a call'] }), ['invalidTranscripts']);
});

/** Two parts on a platform that takes 120 characters, and with the room for the mark too. */
const [first, second] = ['a '.repeat(49).trim(), 'b '.repeat(45).trim()];
const twoTurns = log(
  opened,
  user(mine),
  answer(`${first}\n${second}`),
  closed,
  opened,
  user(another),
  answer('done, the second time'),
  closed,
);

/** `REPLY/PART`, with an exclamation mark where it says that it may be repeated, as they came. */
function posted(kind: ChatKind, ...ids: string[]): Parameters<typeof evidence>[0] {
  const texts: Record<string, string> = { 'one/1': first, 'one/2': second, 'two/1': 'done, the second time' };
  const posts = ids.map((id) => {
    const dedupeId = id.replace('!', '');
    const mark = id.endsWith('!') ? repetitionMark : '';
    return { chat: 'c', dedupeId, text: `${mark}${texts[dedupeId] ?? dedupeId}` };
  });
  return { entries: twoTurns, ledger: [], sent: { ...message, answerHas: null }, chat: { kind, posts } };
}

test('replies that came whole and in order are fine, on both kinds of platform', () => {
  for (const kind of ['exact', 'forgetful'] as const)
    assert.deepEqual(judge(evidence(posted(kind, 'one/1', 'one/2', 'two/1'))).problems, []);
});

test('a reply that never came is lost, one that answers nothing is doubled', () => {
  assert.deepEqual(complaints(posted('exact', 'one/1', 'one/2')), ['lost']);
  assert.deepEqual(complaints(posted('exact', 'one/1', 'one/2', 'two/1', 'three/1')), ['doubled']);
});

test('a reply without one of its parts, or with other words, is cut short', () => {
  assert.deepEqual(complaints(posted('exact', 'one/1', 'two/1')), ['cutShort']);
  assert.deepEqual(complaints(posted('forgetful', 'one/1', 'one/2', 'one/3', 'two/1')), ['cutShort']);
});

test('parts or replies that came in another order are seen', () => {
  assert.deepEqual(complaints(posted('forgetful', 'one/2', 'one/1', 'two/1')), ['outOfOrder']);
  assert.deepEqual(complaints(posted('exact', 'one/1', 'two/1', 'one/2')), ['outOfOrder']);
  assert.deepEqual(complaints(posted('exact', 'two/1', 'one/1', 'one/2')), ['cutShort']);
});

test('a part that came again is doubled, unless the platform can not tell and it says so itself', () => {
  const again = posted('forgetful', 'one/1', 'one/1!', 'one/2', 'one/2!', 'two/1!');
  assert.deepEqual([judge(evidence(again)).problems, judge(evidence(again)).markedCopies], [[], 2]);
  assert.deepEqual(complaints(posted('forgetful', 'one/1', 'one/1', 'one/2', 'two/1')), ['doubled']);
  assert.deepEqual(complaints(posted('exact', 'one/1', 'one/1', 'one/2', 'two/1')), ['doubled']);
});

test('a turn that ended without an answer is told by its notice; one that was stopped before it said anything is not', () => {
  const notice: EntryBody = { kind: 'notice', text: 'This turn is parked.' };
  const ended = (outcome: 'parked' | 'stopped'): EntryBody => ({ kind: 'turn-closed', outcome });
  const entries = log(opened, user(another), ended('stopped'), opened, user(mine), notice, ended('parked'));
  const posts = [{ chat: 'c', dedupeId: 'one/1', text: 'This turn is parked.' }];
  const sent = { ...message, mayPark: true };
  const told = (chat: Omit<ChatView, 'session'>) => judge(evidence({ entries, ledger: [], sent, chat })).problems;
  assert.deepEqual(told({ kind: 'exact', posts }), []);
  assert.equal(told({ kind: 'exact', posts: [] }).length, 1);
});
