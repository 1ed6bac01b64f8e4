/**
 * Model calls that nobody can end any more: their process died in them, or their lease or their turn is over. What they
 * used can't be told, so that they count as having cost what was reserved for them.
 */
import type { SessionId, TurnId } from '../../protocol/ids.ts';
import { noTokens } from '../../protocol/usage.ts';
import type { Database } from './open-database.ts';
import { accountColumns, addUsage, type Account } from './spending.ts';

/** Those of the session that are still `started`, or only those of one turn of it. */
export function loseModelCalls(
  database: Database,
  now: number,
  sessionId: SessionId,
  turnId: TurnId | null = null,
): number {
  const lost = database.all<Account & { readonly usd: number | null; readonly turnId: TurnId | null }>(
    `UPDATE model_calls SET state = 'lost', ended_at = ?, input_tokens = 0, cached_tokens = 0, cache_write_tokens = 0,
       output_tokens = 0, reasoning_tokens = 0, usd = reserved_usd
     WHERE session_id = ? AND state = 'started' AND (? IS NULL OR turn_id = ?)
     RETURNING ${accountColumns}, usd, turn_id AS turnId`,
    now,
    sessionId,
    turnId,
    turnId,
  );
  for (const call of lost) {
    addUsage(database, call, { ...noTokens, usd: call.usd });
    // A turn is not to pay with its budget for a process that died.
    if (call.turnId !== null) countModelCall(database, sessionId, call.turnId, -1);
  }
  return lost.length;
}

export function countModelCall(database: Database, sessionId: SessionId, turnId: TurnId, change: 1 | -1): void {
  const sql = 'UPDATE turns SET model_calls = model_calls + ? WHERE session_id = ? AND id = ?';
  database.run(sql, change, sessionId, turnId);
}

/** For a process that has just begun and is alone: no call can be under way. */
export function loseAllModelCalls(database: Database, now: number): number {
  const sessions = database.all<{ id: SessionId }>(
    `SELECT DISTINCT session_id AS id FROM model_calls WHERE state = 'started'`,
  );
  return sessions.reduce((count, { id }) => count + loseModelCalls(database, now, id), 0);
}
