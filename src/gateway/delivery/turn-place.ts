/** Where the people of an open turn are: the place that its newest message came from, as its answer will go there. */
import { textOf } from '../../protocol/messages.ts';
import type { SessionId, TurnId } from '../../protocol/ids.ts';
import { replyPlace } from '../../protocol/reply-place.ts';
import type { StoreReader } from '../../store/store.ts';

export interface TurnPlace {
  readonly channel: string;
  readonly target: string;
}

export interface TurnSituation {
  readonly place: TurnPlace;
  /** What the model said last in it; empty if nothing. */
  readonly lastAnswer: string;
}

/** Null if the turn is not open any more, or nobody wrote it. */
export async function situationOf(
  read: Pick<StoreReader, 'journal' | 'inbox'>,
  sessionId: SessionId,
  turnId: TurnId,
): Promise<TurnSituation | null> {
  const turn = (await read.journal(sessionId, Number.MAX_SAFE_INTEGER))?.openTurn;
  if (turn?.id !== turnId) return null;
  const journal = await read.journal(sessionId, turn.firstSeq - 1);
  const entries = journal?.entries.filter((entry) => entry.turnId === turnId) ?? [];
  const asked = entries.findLast((entry) => 'inboxId' in entry && entry.inboxId !== null);
  const record =
    asked !== undefined && 'inboxId' in asked && asked.inboxId !== null ? await read.inbox(asked.inboxId) : null;
  if (record === null) return null;
  const answer = entries.findLast((entry) => entry.kind === 'message' && entry.message.role === 'assistant');
  const lastAnswer = answer?.kind === 'message' ? textOf(answer.message) : '';
  return { place: replyPlace(record), lastAnswer };
}
