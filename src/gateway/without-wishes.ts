/** A log as it is copied or taken elsewhere: a wish to have it shortened that nothing has come of stays where it is. */
import type { Entry } from '../protocol/messages.ts';

export function withoutWishes(entries: readonly Entry[]): Entry[] {
  const ended = entries.findLastIndex(
    (entry) => entry.kind === 'compression' && (entry.step.kind === 'done' || entry.step.kind === 'declined'),
  );
  return entries.filter((entry, index) => index <= ended || entry.kind !== 'compression');
}
