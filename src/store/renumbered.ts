/** Entries of a log, numbered from 1 without gaps; what refers to a number refers to the same place as before. */
import type { Entry } from '../protocol/messages.ts';

/** `entries` are in order, and may be what is left of a longer log. */
export function renumbered(entries: readonly Entry[]): Entry[] {
  return entries.map((entry, index) => {
    const seq = index + 1;
    if (entry.kind !== 'rewound') return { ...entry, seq };
    const isKept = ({ seq: before }: Entry) => before <= entry.toSeq;
    return { ...entry, seq, toSeq: entries.slice(0, index).filter(isKept).length };
  });
}
