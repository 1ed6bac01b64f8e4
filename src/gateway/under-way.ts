/** What of a log stays where it is when the session is copied or taken elsewhere. */
import type { TurnId } from '../protocol/ids.ts';
import type { Entry } from '../protocol/messages.ts';

/** Of the open turn, or a wish to shorten the conversation that is for this place alone. */
export function isUnderWay(entry: Entry, openTurnId: TurnId | null): boolean {
  if (entry.kind === 'compression') return entry.step.kind === 'asked' || entry.step.kind === 'begun';
  return openTurnId !== null && entry.turnId === openTurnId;
}
