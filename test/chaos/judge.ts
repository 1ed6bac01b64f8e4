/**
 * Judges a run from the outside: what was acknowledged, what is in the transcripts, what was shown, what happened to the
 * world. A pure function, so that it can be shown to complain.
 */
import { textOf, toolCallsOf, type Entry } from '../../src/protocol/messages.ts';
import { effectOf } from './ledger.ts';

export interface SentMessage {
  readonly externalId: string;
  readonly inboxId: string;
  readonly session: string;
  readonly answerHas: string | null;
  /** Someone asked for a stop of its turn. */
  readonly mayStop: boolean;
  /** The process was killed at least three times while its turn may have been open. */
  readonly mayPark: boolean;
}

export interface Evidence {
  readonly sent: readonly SentMessage[];
  readonly transcripts: ReadonlyMap<string, readonly Entry[]>;
  /** What followers of the same sessions were shown. */
  readonly shown: ReadonlyMap<string, readonly Entry[]>;
  /** The effects that happened, one for each time. */
  readonly ledger: readonly string[];
  /** Sessions that were removed on purpose: their effects have no call any more. */
  readonly effectsOfRemoved: ReadonlySet<string>;
}

export interface Verdict {
  acknowledged: number;
  answered: number;
  stopped: number;
  parked: number;
  effects: number;
  /** Calls whose outcome is known to nobody, and which were told so. */
  unknownCalls: number;
  // From here on everything must be zero.
  lost: number;
  doubled: number;
  repeatedEffects: number;
  effectsWithoutCall: number;
  effectsMissing: number;
  invalidTranscripts: number;
  shownButNotStored: number;
  parkedTooEarly: number;
  problems: string[];
}

export const badColumns = [
  'lost',
  'doubled',
  'repeatedEffects',
  'effectsWithoutCall',
  'effectsMissing',
  'invalidTranscripts',
  'shownButNotStored',
  'parkedTooEarly',
] as const satisfies readonly (keyof Verdict)[];

export function isClean(verdict: Verdict): boolean {
  return verdict.problems.length === 0 && badColumns.every((column) => verdict[column] === 0);
}

export function judge(evidence: Evidence): Verdict {
  const verdict: Verdict = {
    acknowledged: evidence.sent.length,
    answered: 0,
    stopped: 0,
    parked: 0,
    effects: evidence.ledger.length,
    unknownCalls: 0,
    lost: 0,
    doubled: 0,
    repeatedEffects: 0,
    effectsWithoutCall: 0,
    effectsMissing: 0,
    invalidTranscripts: 0,
    shownButNotStored: 0,
    parkedTooEarly: 0,
    problems: [],
  };
  for (const message of evidence.sent) judgeMessage(verdict, message, evidence.transcripts.get(message.session) ?? []);
  for (const [session, entries] of evidence.transcripts) {
    const problem = transcriptProblem(entries);
    if (problem !== null) complain(verdict, 'invalidTranscripts', `${session}: ${problem}`);
    judgeShown(verdict, session, evidence.shown.get(session) ?? [], entries);
  }
  judgeEffects(verdict, evidence);
  return verdict;
}

function complain(verdict: Verdict, column: (typeof badColumns)[number], what: string): void {
  verdict[column] += 1;
  verdict.problems.push(`${column}: ${what}`);
}

function judgeMessage(verdict: Verdict, message: SentMessage, entries: readonly Entry[]): void {
  const told = entries.filter((entry) => 'inboxId' in entry && entry.inboxId === message.inboxId);
  const where = `${message.externalId} in ${message.session}`;
  if (told.length > 1) complain(verdict, 'doubled', `${where} stands ${told.length} times in the log`);
  const turn = entries.filter((entry) => entry.turnId !== null && entry.turnId === told[0]?.turnId);
  const closed = turn.findLast((entry) => entry.kind === 'turn-closed');
  if (closed === undefined) return complain(verdict, 'lost', `${where} was acknowledged and never answered`);
  const answers = turn.filter((entry) => isLastWord(entry));
  const { outcome } = closed;
  if (outcome === 'answered') {
    verdict.answered += 1;
    const text = answers.map((entry) => (entry.kind === 'message' ? textOf(entry.message) : '')).join('\n');
    if (answers.length === 0) complain(verdict, 'lost', `${where} was closed as answered without an answer`);
    if (answers.length > 1) complain(verdict, 'doubled', `${where} has ${answers.length} answers`);
    if (message.answerHas !== null && !text.includes(message.answerHas))
      complain(verdict, 'lost', `${where} was answered with other words: ${text.slice(0, 100)}`);
  } else if (outcome === 'stopped' && message.mayStop) verdict.stopped += 1;
  else if (outcome === 'parked') {
    verdict.parked += 1;
    if (!message.mayPark) complain(verdict, 'parkedTooEarly', where);
  } else complain(verdict, 'lost', `${where} ended as ${outcome}`);
}

function isLastWord(entry: Entry): boolean {
  return entry.kind === 'message' && entry.message.role === 'assistant' && toolCallsOf(entry.message).length === 0;
}

/** What makes a log unfit to be sent to a model, or shows that a turn was closed twice; null if nothing does. */
export function transcriptProblem(entries: readonly Entry[]): string | null {
  let openTurn: string | null = null;
  let awaited = new Set<string>();
  const done = new Set<string>();
  for (const [index, entry] of entries.entries()) {
    const at = `entry ${entry.seq}`;
    if (entry.seq !== index + 1) return `${at} stands at place ${index + 1}`;
    if (entry.kind === 'turn-opened') {
      if (openTurn !== null) return `${at} opens a turn in an open one`;
      if (entry.turnId === null || done.has(entry.turnId)) return `${at} opens a turn that was closed`;
      openTurn = entry.turnId;
    } else if (entry.kind === 'turn-closed') {
      if (entry.turnId !== openTurn) return `${at} closes a turn that is not open`;
      if (awaited.size > 0) return `${at} closes a turn with calls that have no result`;
      // A parked turn may be tried again.
      if (openTurn !== null && entry.outcome !== 'parked') done.add(openTurn);
      openTurn = null;
    } else if (entry.kind === 'message') {
      if (entry.turnId !== openTurn) return `${at} is a message outside its turn`;
      const { message } = entry;
      if (message.role === 'tool') {
        if (!awaited.delete(message.parts[0].callId)) return `${at} is a result that no call waits for`;
      } else if (awaited.size > 0) return `${at} comes before the results of the calls`;
      if (message.role === 'assistant') awaited = new Set(toolCallsOf(message).map((call) => call.callId));
    }
  }
  return openTurn === null ? null : 'its last turn is not closed';
}

function judgeShown(verdict: Verdict, session: string, shown: readonly Entry[], stored: readonly Entry[]): void {
  const wrong = shown.find((entry) => JSON.stringify(entry) !== JSON.stringify(stored[entry.seq - 1]));
  if (wrong !== undefined) complain(verdict, 'shownButNotStored', `entry ${wrong.seq} of ${session}`);
}

/** A finished call has had its effect once, a skipped one never, any other at most once; and no effect is without a call. */
function judgeEffects(verdict: Verdict, evidence: Evidence): void {
  const times = new Map<string, number>();
  for (const id of evidence.ledger) times.set(id, (times.get(id) ?? 0) + 1);
  const calls = effectCallsOf(evidence.transcripts);
  for (const [id, count] of times) {
    if (count > 1) complain(verdict, 'repeatedEffects', `${id} happened ${count} times`);
    const call = calls.get(id);
    if (call === undefined && !evidence.effectsOfRemoved.has(id)) complain(verdict, 'effectsWithoutCall', id);
    if (call?.outcome === 'skipped') complain(verdict, 'effectsWithoutCall', `${id}, whose call was skipped`);
  }
  for (const [id, { outcome }] of calls) {
    if (outcome === 'unknown') verdict.unknownCalls += 1;
    if (outcome === 'finished' && !times.has(id)) complain(verdict, 'effectsMissing', `${id} is said to have finished`);
  }
}

/** Effects by the calls that ask for them; an effect asked for by two calls would show as repeated. */
function effectCallsOf(transcripts: Evidence['transcripts']): Map<string, { outcome: string }> {
  const calls = new Map<string, { outcome: string }>();
  for (const entries of transcripts.values()) {
    const outcomes = new Map<string, string>();
    for (const entry of entries) {
      if (entry.kind === 'message' && entry.message.role === 'tool')
        outcomes.set(entry.message.parts[0].callId, entry.message.parts[0].outcome);
    }
    for (const entry of entries) {
      if (entry.kind !== 'message' || entry.message.role !== 'assistant') continue;
      for (const call of toolCallsOf(entry.message)) {
        const id = effectOf(call);
        if (id !== null) calls.set(id, { outcome: outcomes.get(call.callId) ?? 'none' });
      }
    }
  }
  return calls;
}
