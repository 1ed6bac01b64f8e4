/** Entries of a log, numbered from 1 without gaps; what refers to a number refers to the same place as before. */
import type { CompressionStep, Entry } from '../protocol/messages.ts';

/** `entries` are in order, and may be what is left of a longer log. */
export function renumbered(entries: readonly Entry[]): Entry[] {
  return entries.map((entry, index) => {
    const seq = index + 1;
    /** How many of the entries before this one are up to that number. */
    const placeOf = (before: number) => entries.slice(0, index).filter((other) => other.seq <= before).length;
    if (entry.kind === 'rewound') return { ...entry, seq, toSeq: placeOf(entry.toSeq) };
    if (entry.kind !== 'compression') return { ...entry, seq };
    const isThere = (number: number) => entries.some((other) => other.seq === number);
    return { ...entry, seq, step: renumberedStep(entry.step, placeOf, isThere) };
  });
}

function renumberedStep(
  step: CompressionStep,
  placeOf: (seq: number) => number,
  isThere: (seq: number) => boolean,
): CompressionStep {
  if (step.kind !== 'done') return step;
  const toSeq = placeOf(step.toSeq);
  // All that it tells is gone.
  if (toSeq === 0 && step.toSeq > 0) return { kind: 'declined', tokens: step.tokensAfter };
  return { ...step, toSeq, headSeq: placeOf(step.headSeq), keeps: step.keeps.filter(isThere).map(placeOf) };
}
