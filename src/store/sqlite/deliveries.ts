/**
 * The outbox. A delivery is `attempting` from before the network sees it until its outcome is known; per session only
 * the oldest unsettled one may be taken, so that replies arrive in order and a waiting retry is not overtaken. What
 * belongs to no session is in order per place.
 */
import type { NodeId, OutboxId, SessionId, TurnId } from '../../protocol/ids.ts';
import { unreachable } from '../../lib/assert.ts';
import { StoreError, type DeliverySettlement, type OutboxRecord, type Reply } from '../store.ts';
import { requireContent } from './contents.ts';
import { draftOf, forgetDraftBehind } from './drafts.ts';
import type { Database } from './open-database.ts';
import { outboxColumns, toOutbox, type OutboxRow } from './rows.ts';

export function queueReply(
  database: Database,
  now: number,
  sessionId: SessionId | null,
  turnId: TurnId | null,
  reply: Reply,
): void {
  if (reply.file !== undefined) requireContent(database, sessionId, reply.file.content.sha256);
  database.run(
    `INSERT INTO outbox (id, session_id, turn_id, channel, target, text, buttons, file, state, not_before, created_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'pending', ?, ?)`,
    reply.outboxId,
    sessionId,
    turnId,
    reply.channel,
    JSON.stringify(reply.target),
    JSON.stringify(reply.text),
    JSON.stringify(reply.buttons),
    reply.file === undefined ? null : JSON.stringify(reply.file),
    now,
    now,
  );
}

export function claimDeliveries(
  database: Database,
  now: number,
  owner: NodeId,
  limit: number,
  channels: readonly string[] | null = null,
): OutboxRecord[] {
  const due = database.all<{ number: number }>(
    `SELECT outbox.number FROM outbox JOIN (
       SELECT min(number) AS number FROM outbox WHERE state IN ('pending', 'attempting') GROUP BY lane
     ) AS oldest ON oldest.number = outbox.number
     WHERE state = 'pending' AND not_before <= ?1 AND (?2 IS NULL OR channel IN (SELECT value FROM json_each(?2)))
     ORDER BY outbox.number LIMIT ?3`,
    now,
    channels === null ? null : JSON.stringify(channels),
    limit,
  );
  return due.flatMap(({ number }) =>
    database
      .all<OutboxRow>(
        `UPDATE outbox SET state = 'attempting', attempts = attempts + 1, owner = ? WHERE number = ?
         RETURNING ${outboxColumns}`,
        owner,
        number,
      )
      .map((row) => toOutbox(row, draftOf(database, row))),
  );
}

export function recordPartSent(database: Database, _now: number, id: OutboxId, platformId: string | null): void {
  const attempted = readAttempted(database, id);
  if (attempted !== null) addPart(database, attempted, platformId);
}

type Attempted = OutboxRow & { readonly platformIds: string };

/** Null if its session was removed while the network was busy: there is nothing left to record anything on. */
function readAttempted(database: Database, id: OutboxId): Attempted | null {
  const sql = `SELECT ${outboxColumns}, platform_ids AS platformIds FROM outbox WHERE id = ?`;
  const found = database.get<Attempted>(sql, id);
  if (found === undefined || found.state === 'attempting') return found ?? null;
  throw new StoreError(
    'conflict',
    `Delivery ${id} is ${found.state}; only of one that is being attempted can the outcome be recorded.`,
  );
}

/** The attempt under way goes on with the next part, as that part's first. */
function addPart(database: Database, attempted: Attempted, platformId: string | null): void {
  forgetDraftBehind(database, attempted);
  const platformIds = [...(JSON.parse(attempted.platformIds) as (string | null)[]), platformId];
  database.run(
    `UPDATE outbox SET parts_sent = parts_sent + 1, attempts = 1, maybe_sent = 0, platform_ids = ?, error = NULL
     WHERE id = ?`,
    JSON.stringify(platformIds),
    attempted.id,
  );
}

export function settleDelivery(database: Database, now: number, id: OutboxId, settlement: DeliverySettlement): void {
  const attempted = readAttempted(database, id);
  if (attempted === null) return;
  switch (settlement.kind) {
    case 'sent':
      addPart(database, attempted, settlement.platformId);
      database.run(`UPDATE outbox SET state = 'sent', settled_at = ? WHERE id = ?`, now, id);
      return;
    case 'retry':
      database.run(
        `UPDATE outbox SET state = 'pending', not_before = ?, maybe_sent = max(maybe_sent, ?), error = ? WHERE id = ?`,
        settlement.notBefore,
        settlement.maybeSent ? 1 : 0,
        settlement.error,
        id,
      );
      return;
    case 'failed':
      database.run(
        `UPDATE outbox SET state = 'failed', error = ?, settled_at = ? WHERE id = ?`,
        settlement.error,
        now,
        id,
      );
      return;
    default:
      unreachable(settlement);
  }
}

/** For a process that has just begun and is alone: whether these were sent can't be told, so they are due again. */
export function resumeDeliveries(database: Database): number {
  // The first condition is the partial index's own words; without them SQLite would read the whole table.
  return database.run(
    `UPDATE outbox SET state = 'pending', maybe_sent = 1
     WHERE state IN ('pending', 'attempting') AND state = 'attempting'`,
  );
}
