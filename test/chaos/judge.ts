/**
 * Judges a run from the outside: what was acknowledged, what is in the transcripts, what was shown, what happened to the
 * world. A pure function, so that it can be shown to complain.
 */
import { textOf, toolCallsOf, type Entry } from '../../src/protocol/messages.ts';
import { judgeChat, type ChatView } from './judge-platform.ts';
import { judgeTelegram, type TelegramView } from './judge-telegram.ts';
import { judgeEffects, type EffectEvidence } from './judge-effects.ts';
import type { ModelReport } from './scripted-model.ts';
import { transcriptProblem } from './transcript-problem.ts';

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

export interface Evidence extends EffectEvidence {
  readonly sent: readonly SentMessage[];
  /** What followers of the same sessions were shown. */
  readonly shown: ReadonlyMap<string, readonly Entry[]>;
  /** What the platform got in its chats. */
  readonly chats: readonly ChatView[];
  /** What stands in the chats of Telegram. */
  readonly telegram: readonly TelegramView[];
  /** What the model server was asked, how often it went wrong there, and what it turned down as invalid. */
  readonly model: ModelReport;
  /** Prompts that did not begin like the one before, as the gateway counts them. */
  readonly prefixBreaks: number;
}

export interface Verdict {
  acknowledged: number;
  answered: number;
  stopped: number;
  parked: number;
  effects: number;
  /** Calls whose outcome is known to nobody, and which were told so. */
  unknownCalls: number;
  /** Posts that came once more on a platform that can't tell, and said so. */
  markedCopies: number;
  /** Commands that were answered. */
  commandsAnswered: number;
  /** Drafts whose ids were lost as they were sent. */
  orphanedDrafts: number;
  modelRequests: number;
  modelFaults: number;
  // From here on everything must be zero.
  lost: number;
  doubled: number;
  cutShort: number;
  outOfOrder: number;
  draftsLeft: number;
  repeatedEffects: number;
  effectsWithoutCall: number;
  effectsMissing: number;
  invalidTranscripts: number;
  shownButNotStored: number;
  parkedTooEarly: number;
  prefixBreaks: number;
  problems: string[];
}

export const badColumns = [
  'lost',
  'doubled',
  'cutShort',
  'outOfOrder',
  'draftsLeft',
  'repeatedEffects',
  'effectsWithoutCall',
  'effectsMissing',
  'invalidTranscripts',
  'shownButNotStored',
  'parkedTooEarly',
  'prefixBreaks',
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
    markedCopies: 0,
    commandsAnswered: 0,
    orphanedDrafts: 0,
    modelRequests: evidence.model.requests,
    modelFaults: evidence.model.faults,
    lost: 0,
    doubled: 0,
    cutShort: 0,
    outOfOrder: 0,
    draftsLeft: 0,
    repeatedEffects: 0,
    effectsWithoutCall: 0,
    effectsMissing: 0,
    invalidTranscripts: 0,
    shownButNotStored: 0,
    parkedTooEarly: 0,
    prefixBreaks: 0,
    problems: [],
  };
  for (const message of evidence.sent) judgeMessage(verdict, message, evidence.transcripts.get(message.session) ?? []);
  for (const [session, entries] of evidence.transcripts) {
    const problem = transcriptProblem(entries);
    if (problem !== null) complain(verdict, 'invalidTranscripts', `${session}: ${problem}`);
    judgeShown(verdict, session, evidence.shown.get(session) ?? [], entries);
  }
  for (const request of evidence.model.rejected)
    complain(verdict, 'invalidTranscripts', `the model server said: ${request}`);
  if (evidence.prefixBreaks > 0) complain(verdict, 'prefixBreaks', `${evidence.prefixBreaks} prompts`);
  for (const chat of evidence.chats) {
    const { findings, markedCopies } = judgeChat(chat, evidence.transcripts.get(chat.session) ?? []);
    for (const { column, what } of findings) complain(verdict, column, what);
    verdict.markedCopies += markedCopies;
  }
  for (const view of evidence.telegram) {
    const { findings, ...counts } = judgeTelegram(view, evidence.transcripts);
    for (const { column, what } of findings) complain(verdict, column, what);
    verdict.markedCopies += counts.markedCopies;
    verdict.commandsAnswered += counts.commandsAnswered;
    verdict.orphanedDrafts += counts.orphanedDrafts;
  }
  const { findings, unknownCalls } = judgeEffects(evidence);
  for (const { column, what } of findings) complain(verdict, column, what);
  verdict.unknownCalls = unknownCalls;
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

function judgeShown(verdict: Verdict, session: string, shown: readonly Entry[], stored: readonly Entry[]): void {
  const wrong = shown.find((entry) => JSON.stringify(entry) !== JSON.stringify(stored[entry.seq - 1]));
  if (wrong !== undefined) complain(verdict, 'shownButNotStored', `entry ${wrong.seq} of ${session}`);
}
