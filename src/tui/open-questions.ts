/**
 * Which questions of a session wait for a person, and what counts as an answer to one. A question is open from its
 * notice until its call has a result or its turn ends; past its deadline nobody can answer it any more. Pure but for
 * reading the log.
 */
import type { SessionSummary, TalariaApi } from '../protocol/api.ts';
import type { CallId, TurnId } from '../protocol/ids.ts';
import type { Entry } from '../protocol/messages.ts';
import { storedEntries } from './stored-entries.ts';

export interface AskedQuestion {
  readonly callId: CallId;
  readonly turnId: TurnId | null;
  readonly text: string;
  /** Null if any text will do. */
  readonly choices: readonly string[] | null;
  readonly deadline: number;
}

/** Oldest first. */
export type OpenQuestions = readonly AskedQuestion[];

/** A turn that waits has written little after its question: the results of calls beside it, messages that joined. */
const entriesLookedThroughMax = 1_000;

export function questionsAfter(open: OpenQuestions, entry: Entry): OpenQuestions {
  switch (entry.kind) {
    case 'notice': {
      if (entry.question === undefined) return open;
      const { turnId, text, question } = entry;
      // A call may ask again; then its earlier question is over.
      return [...withoutCall(open, question.callId), { ...question, turnId, text }];
    }
    case 'message': {
      if (open.length === 0 || entry.message.role !== 'tool') return open;
      return withoutCall(open, entry.message.parts[0].callId);
    }
    case 'turn-closed':
      return open.length === 0 ? open : open.filter((question) => question.turnId !== entry.turnId);
    case 'compression':
    case 'head':
    case 'rewound':
    case 'turn-opened':
    case 'titled':
      return open;
  }
}

export function withoutCall(open: OpenQuestions, callId: CallId): OpenQuestions {
  return open.filter((question) => question.callId !== callId);
}

export async function openQuestions(
  api: Pick<TalariaApi, 'events'>,
  session: Pick<SessionSummary, 'id' | 'state' | 'lastSeq'>,
): Promise<OpenQuestions> {
  if (session.state !== 'running') return [];
  let open: OpenQuestions = [];
  const after = Math.max(0, session.lastSeq - entriesLookedThroughMax);
  for await (const entry of storedEntries(api, session.id, after)) open = questionsAfter(open, entry);
  return open;
}

export function isWaiting(question: AskedQuestion, now: number): boolean {
  return now < question.deadline;
}

/** What this text answers: a choice by its word or number, or the text itself where any will do; null if it is none. */
export function answerIn(question: Pick<AskedQuestion, 'choices'>, text: string): string | null {
  const said = text.trim();
  if (said === '') return null;
  const { choices } = question;
  if (choices === null) return said;
  const byWord = choices.find((choice) => choice === said) ?? choices.find((choice) => isSameWord(choice, said));
  // A word wins over a number: a choice may itself be one.
  return byWord ?? (/^\d{1,3}$/.test(said) ? (choices[Number(said) - 1] ?? null) : null);
}

function isSameWord(a: string, b: string): boolean {
  return a.trim().toLowerCase() === b.toLowerCase();
}
