/** `compress`: how the prompt tells what came before, step by step. The log keeps everything. */
import type { CompressionStep } from '../../protocol/messages.ts';
import { compressionMisfit } from '../compression-misfit.ts';
import type { SessionWrite } from '../store.ts';
import { queueReply } from './deliveries.ts';
import { conflict, type SessionDraft } from './session-draft.ts';
import { requireNoUnsettledCalls } from './turn-writes.ts';

export function compress(draft: SessionDraft, { step, reply }: SessionWrite & { verb: 'compress' }): void {
  const misfit = compressionMisfit(step, draft.lastSeq);
  if (misfit !== null) throw conflict(`${misfit} in ${draft.sessionId}`);
  if (step.kind === 'done' && draft.openTurnId !== null) requireNoUnsettledCalls(draft, draft.openTurnId);
  draft.append(null, { kind: 'compression', step });
  noteWish(draft, step);
  // Of no session: it neither waits behind the turn's replies nor takes the place of its draft.
  if (reply !== undefined) queueReply(draft.database, draft.now, null, null, reply);
}

/** Between turns nothing else would tell a later process that there is something to do. */
function noteWish({ database, sessionId, now }: SessionDraft, step: CompressionStep): void {
  if (step.kind === 'asked' && step.why === 'person') {
    database.run('UPDATE sessions SET wished_at = coalesce(wished_at, ?) WHERE id = ?', now, sessionId);
  }
  if (step.kind === 'done' || step.kind === 'declined') {
    database.run('UPDATE sessions SET wished_at = NULL WHERE id = ? AND wished_at IS NOT NULL', sessionId);
  }
}
