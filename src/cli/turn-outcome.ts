/** Waits for the end of the turn that a session has open. */
import type { SessionSummary, TalariaApi } from '../protocol/api.ts';
import type { TurnOutcome } from '../protocol/messages.ts';

/** Null if the signal aborts first. */
export async function turnOutcome(
  api: TalariaApi,
  { id, lastSeq }: Pick<SessionSummary, 'id' | 'lastSeq'>,
  signal: AbortSignal,
): Promise<TurnOutcome | null> {
  for await (const event of api.events(id, lastSeq, signal)) {
    if (event.kind === 'entry' && event.entry.kind === 'turn-closed') return event.entry.outcome;
  }
  return null;
}
