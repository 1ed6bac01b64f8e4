/** The verbs that open, join and close a turn. A turn and the inbox rows promoted into it change together. */
import type { InboxId, TurnId } from '../../protocol/ids.ts';
import type { UserMessage } from '../../protocol/messages.ts';
import type { SessionWrite } from '../store.ts';
import { queueReply } from './deliveries.ts';
import { loseModelCalls } from './lost-model-calls.ts';
import { conflict, type SessionDraft } from './session-draft.ts';

/** Where a turn's first message came from and who wrote it: for whom its model calls are. `sender` is JSON. */
export interface Origin {
  readonly channel: string;
  readonly sender: string;
}

export const nobody: Origin = { channel: '', sender: '""' };

export function openTurn(draft: SessionDraft, write: SessionWrite & { verb: 'open-turn' }): void {
  const { turnId } = write;
  if (draft.openTurnId !== null) throw conflict(`turn ${draft.openTurnId} of ${draft.sessionId} is still open`);
  const [first] = write.promote;
  const origin = draft.database.get<Origin>('SELECT channel, sender FROM inbox WHERE id = ?', first ?? null);
  // The row comes first because the entry refers to it.
  draft.database.run(
    `INSERT INTO turns (session_id, id, state, opened_at, first_seq, channel, sender)
     VALUES (?, ?, 'open', ?, ?, ?, ?)`,
    draft.sessionId,
    turnId,
    draft.now,
    draft.lastSeq + 1,
    origin?.channel ?? nobody.channel,
    origin?.sender ?? nobody.sender,
  );
  draft.setTurn('open', turnId);
  draft.append(turnId, { kind: 'turn-opened' });
  promote(draft, turnId, write.promote);
}

export function joinTurn(draft: SessionDraft, write: SessionWrite & { verb: 'join-turn' }): void {
  draft.requireOpenTurn(write.turnId);
  promote(draft, write.turnId, write.promote);
}

function promote(draft: SessionDraft, turnId: TurnId, inboxIds: readonly InboxId[]): void {
  for (const inboxId of inboxIds) {
    const row = draft.database.get<{ message: string }>(
      `UPDATE inbox SET state = 'promoted', turn_id = ? WHERE id = ? AND session_id = ? AND state = 'waiting'
       RETURNING message`,
      turnId,
      inboxId,
      draft.sessionId,
    );
    if (row === undefined) throw conflict(`message ${inboxId} is not waiting in ${draft.sessionId}`);
    draft.append(turnId, { kind: 'message', message: JSON.parse(row.message) as UserMessage, inboxId });
  }
}

export function closeTurn(draft: SessionDraft, write: SessionWrite & { verb: 'close-turn' }): void {
  const { turnId, outcome } = write;
  draft.requireOpenTurn(turnId);
  requireNoUnsettledCalls(draft, turnId);
  loseModelCalls(draft.database, draft.now, draft.sessionId, turnId);
  const isParked = outcome === 'parked';
  draft.database.run(
    'UPDATE turns SET state = ?, outcome = ?, closed_at = ? WHERE session_id = ? AND id = ?',
    isParked ? 'parked' : 'closed',
    outcome,
    draft.now,
    draft.sessionId,
    turnId,
  );
  draft.database.run(
    `UPDATE inbox SET state = 'answered' WHERE session_id = ? AND turn_id = ?`,
    draft.sessionId,
    turnId,
  );
  if (outcome === 'failed') draft.database.run('UPDATE totals SET turns_failed = turns_failed + 1');
  else if (!isParked) draft.database.run('UPDATE totals SET turns_done = turns_done + 1');
  draft.setTurn(isParked ? 'parked' : 'none', null);
  draft.append(turnId, { kind: 'turn-closed', outcome });
  if (write.reply !== null) queueReply(draft.database, draft.now, draft.sessionId, turnId, write.reply);
}

/** Whatever is appended while a call is unsettled would come between it and its result. */
export function requireNoUnsettledCalls(draft: SessionDraft, turnId: TurnId): void {
  const call = draft.database.get<{ id: string; state: string }>(
    `SELECT id, state FROM tool_calls WHERE session_id = ? AND turn_id = ? AND state IN ('planned', 'started', 'waiting') LIMIT 1`,
    draft.sessionId,
    turnId,
  );
  if (call !== undefined) throw conflict(`call ${call.id} of turn ${turnId} is ${call.state} and has no result`);
}
