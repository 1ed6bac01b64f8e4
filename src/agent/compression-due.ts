/**
 * Whether the prompt is to be shortened before the next call, read from the log alone. It never loops: an attempt ends as
 * `done` or `declined`, and after either the prompt must have grown by a good part before it is tried again by itself.
 */
import type { CompressionStep, Entry } from '../protocol/messages.ts';
import type { Journal } from './journal.ts';
import { promptTokens } from './prompt-size.ts';

/** What the prompt must have grown by since the last attempt. */
const growth = 1.25;
/** How often one turn may be helped after a provider found its prompt too long. */
const overflowsPerTurnMax = 2;

type Asked = Extract<CompressionStep, { kind: 'asked' }>;

export interface CompressionState {
  /** The newest wish that nothing has come of yet. */
  readonly asked: Asked | null;
  /** Attempts since the last end of one that asked a model and were cut short, or are under way. */
  readonly begun: number;
  /** What the prompt had after the last attempt; null if there was none, or it was taken back with what was said then. */
  readonly tokensThen: number | null;
}

export function compressionState(entries: readonly Entry[]): CompressionState {
  let asked: Asked | null = null;
  let begun = 0;
  let isStopped = false;
  let inForceUpTo = Infinity;
  let counted = 0;
  for (let index = entries.length - 1; index >= 0; index -= 1) {
    const entry = entries[index];
    // What somebody stopped did not fail.
    if (entry?.kind === 'turn-closed' && entry.outcome === 'stopped') isStopped = true;
    if (entry?.kind === 'rewound') inForceUpTo = Math.min(inForceUpTo, entry.toSeq);
    // Of the first answer after it: what a provider counts may be far more than was estimated, and is no growth.
    if (entry?.kind === 'message' && 'promptTokens' in entry && entry.seq <= inForceUpTo) counted = entry.promptTokens;
    if (entry?.kind !== 'compression') continue;
    const { step } = entry;
    const end = (tokens: number, seq: number) => ({
      asked,
      begun,
      tokensThen: seq > inForceUpTo ? null : Math.max(tokens, counted),
    });
    if (step.kind === 'done') return end(step.tokensAfter, step.toSeq);
    if (step.kind === 'declined') return end(step.tokens, entry.seq);
    if (step.kind === 'begun') begun += isStopped ? 0 : 1;
    // A person's wish is not forgotten over a provider's.
    else if (asked === null || (asked.why === 'overflow' && step.why === 'person')) asked = step;
  }
  return { asked, begun, tokensThen: null };
}

export type CompressionReason = 'threshold' | 'overflow' | 'person';

/** `compressAt`: from how many tokens on; null: only if somebody asks. Null if there is no reason to. */
export function compressionDue({ entries }: Journal, compressAt: number | null): CompressionReason | null {
  const { asked, tokensThen } = compressionState(entries);
  if (asked !== null) return asked.why;
  if (compressAt === null) return null;
  const tokens = promptTokens(entries);
  return tokens > compressAt && tokens >= growth * (tokensThen ?? 0) ? 'threshold' : null;
}

export function isCompressionAsked({ entries }: Journal): boolean {
  return compressionState(entries).asked?.why === 'person';
}

/** How often a provider has found a prompt of the open turn too long. */
export function overflowsOfTurn(journal: Journal): number {
  return stepsOfTurn(journal).filter(isOverflow).length;
}

/** Not too often, and not if the last help came to nothing: the same prompt would be refused again. */
export function mayHelpOverflow(journal: Journal): boolean {
  const steps = stepsOfTurn(journal);
  const last = steps.findLastIndex(isOverflow);
  const end = steps.slice(last + 1).find(({ kind }) => kind === 'done' || kind === 'declined');
  return steps.filter(isOverflow).length < overflowsPerTurnMax && (last === -1 || end?.kind !== 'declined');
}

function isOverflow(step: CompressionStep): boolean {
  return step.kind === 'asked' && step.why === 'overflow';
}

function stepsOfTurn({ openTurn, entries }: Journal): CompressionStep[] {
  if (openTurn === null) return [];
  return entries.flatMap((entry) =>
    entry.kind === 'compression' && entry.seq > openTurn.firstSeq ? [entry.step] : [],
  );
}
