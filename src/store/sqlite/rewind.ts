/** `rewind`: the conversation goes on from an earlier place. The log keeps everything; turns are undone whole. */
import type { TurnId } from '../../protocol/ids.ts';
import type { SessionWrite } from '../store.ts';
import { conflict, type SessionDraft } from './session-draft.ts';

export function rewind(draft: SessionDraft, { toSeq }: SessionWrite & { verb: 'rewind' }): void {
  const { database, sessionId } = draft;
  if (draft.openTurnId !== null) throw conflict(`turn ${draft.openTurnId} of ${sessionId} is still open`);
  // 0 is the place before the first entry.
  if (!Number.isInteger(toSeq) || toSeq < 0 || toSeq > draft.lastSeq) {
    throw conflict(`the log of ${sessionId} has no entry ${toSeq}`);
  }
  const turn = database.get<{ id: TurnId }>(
    'SELECT id FROM turns WHERE session_id = ? AND first_seq <= ? ORDER BY first_seq DESC LIMIT 1',
    sessionId,
    toSeq,
  );
  // A notice may follow a turn at any time and is no part of the prompt: the turn is over where it was closed.
  const isCut = database.get(
    `SELECT 1 FROM entries WHERE session_id = ? AND seq > ? AND turn_id = ? AND body ->> '$.kind' = 'turn-closed'`,
    sessionId,
    toSeq,
    turn?.id ?? null,
  );
  if (isCut !== undefined) throw conflict(`entry ${toSeq} of ${sessionId} is in the middle of a turn`);
  leaveParked(draft, toSeq);
  draft.append(null, { kind: 'rewound', toSeq });
}

/** A parked turn that was undone can't be tried again: the conversation is no longer where it was. */
function leaveParked(draft: SessionDraft, toSeq: number): void {
  if (draft.turn !== 'parked') return;
  const undone = draft.database.get(
    `SELECT 1 FROM turns WHERE session_id = ? AND state = 'parked' AND first_seq > ?`,
    draft.sessionId,
    toSeq,
  );
  if (undone !== undefined) draft.setTurn('none', null);
}
