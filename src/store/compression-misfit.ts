/** Whether a step of shortening fits a log of this length: the same in every driver. Pure. */
import type { CompressionStep } from '../protocol/messages.ts';

/** What does not fit; null if all does. */
export function compressionMisfit(step: CompressionStep, lastSeq: number): string | null {
  if (step.kind !== 'done') return null;
  const { headSeq, toSeq, keeps, summary } = step;
  const isPlace = (seq: number, least: number, most: number) => Number.isInteger(seq) && seq >= least && seq <= most;
  if (!isPlace(headSeq, 1, lastSeq)) return `there is no head ${headSeq}`;
  if (!isPlace(toSeq, 0, lastSeq)) return `there is no entry ${toSeq}`;
  if ((toSeq === 0) !== (summary === '')) return 'a summary and what it tells belong together';
  if (!keeps.every((seq) => isPlace(seq, 1, toSeq))) return `what is kept is not up to ${toSeq}`;
  return null;
}
