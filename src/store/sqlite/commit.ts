/**
 * `commit`: the writes of a session's owner. The lease is checked in the same transaction as everything else, each verb
 * must fit the state that the verbs before it left, and a misfit ends all of them.
 */
import { unreachable } from '../../lib/assert.ts';
import type { Lease, SessionWrite } from '../store.ts';
import { appendAnswer, appendNudge, ask, settleCall, startCall } from './call-writes.ts';
import { compress } from './compress.ts';
import { queueReply } from './deliveries.ts';
import { requireLease } from './leases.ts';
import { endModelCall, startModelCall } from './model-call-writes.ts';
import type { Database } from './open-database.ts';
import { rewind } from './rewind.ts';
import { conflict, SessionDraft } from './session-draft.ts';
import { setTitle } from './session-labels.ts';
import { closeTurn, joinTurn, openTurn } from './turn-writes.ts';

export function commit(database: Database, now: number, lease: Lease, writes: readonly SessionWrite[]): void {
  requireLease(database, lease);
  const draft = new SessionDraft(database, now, lease.sessionId);
  for (const write of writes) apply(draft, write);
  draft.save();
}

function apply(draft: SessionDraft, write: SessionWrite): void {
  switch (write.verb) {
    case 'freeze-head':
      // The head belongs to the session: it stays in force when the turn that froze it is over.
      draft.append(null, { kind: 'head', reason: write.reason, head: write.head });
      return;
    case 'open-turn':
      return openTurn(draft, write);
    case 'join-turn':
      return joinTurn(draft, write);
    case 'start-model-call':
      return startModelCall(draft, write);
    case 'end-model-call':
      return endModelCall(draft, write);
    case 'append-answer':
      return appendAnswer(draft, write);
    case 'append-nudge':
      return appendNudge(draft, write);
    case 'start-call':
      return startCall(draft, write);
    case 'ask':
      return ask(draft, write);
    case 'settle-call':
      return settleCall(draft, write);
    case 'rewind':
      return rewind(draft, write);
    case 'compress':
      return compress(draft, write);
    case 'set-title':
      return setTitle(draft, write);
    case 'notice':
      return notice(draft, write);
    case 'close-turn':
      return closeTurn(draft, write);
    default:
      return unreachable(write);
  }
}

function notice(draft: SessionDraft, write: SessionWrite & { verb: 'notice' }): void {
  const { verb: kind, turnId, reply, ...notice } = write;
  const isKnown =
    turnId === null ||
    draft.database.get('SELECT 1 FROM turns WHERE session_id = ? AND id = ?', draft.sessionId, turnId) !== undefined;
  if (!isKnown) throw conflict(`${turnId} is no turn of ${draft.sessionId}`);
  draft.append(turnId, { kind, ...notice });
  if (reply !== undefined) queueReply(draft.database, draft.now, draft.sessionId, turnId, reply);
}
