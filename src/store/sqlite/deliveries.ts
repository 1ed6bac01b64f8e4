/**
 * The outbox. A delivery is `attempting` from before the network sees it until its outcome is known; per session only
 * the oldest unsettled one may be taken, so that replies arrive in order and a waiting retry is not overtaken.
 */
import type { NodeId, OutboxId, SessionId, TurnId } from '../../protocol/ids.ts';
import { unreachable } from '../../lib/assert.ts';
import { StoreError, type DeliverySettlement, type OutboxRecord, type Reply } from '../store.ts';
import type { Database } from './open-database.ts';
import { outboxColumns, toOutbox, type OutboxRow } from './rows.ts';

export function queueReply(database: Database, now: number, sessionId: SessionId, turnId: TurnId, reply: Reply): void {
  database.run(
    `INSERT INTO outbox (id, session_id, turn_id, channel, target, text, state, not_before, created_at)
     VALUES (?, ?, ?, ?, ?, ?, 'pending', ?, ?)`,
    reply.outboxId,
    sessionId,
    turnId,
    reply.channel,
    JSON.stringify(reply.target),
    JSON.stringify(reply.text),
    now,
    now,
  );
}

export function claimDeliveries(database: Database, now: number, owner: NodeId, limit: number): OutboxRecord[] {
  const due = database.all<{ number: number }>(
    `SELECT outbox.number FROM outbox JOIN (
       SELECT min(number) AS number FROM outbox WHERE state IN ('pending', 'attempting') GROUP BY session_id
     ) AS oldest ON oldest.number = outbox.number
     WHERE state = 'pending' AND not_before <= ? ORDER BY outbox.number LIMIT ?`,
    now,
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
      .map(toOutbox),
  );
}

export function settleDelivery(database: Database, now: number, id: OutboxId, settlement: DeliverySettlement): void {
  const current = database.get<{ state: OutboxRecord['state'] }>('SELECT state FROM outbox WHERE id = ?', id);
  // The session was removed while the network was busy: there is nothing left to record it on.
  if (current === undefined) return;
  if (current.state !== 'attempting') {
    throw new StoreError(
      'conflict',
      `Delivery ${id} is ${current.state}; only one that is being attempted can be settled.`,
    );
  }
  switch (settlement.kind) {
    case 'sent':
      database.run(
        `UPDATE outbox SET state = 'sent', platform_id = ?, error = NULL, settled_at = ? WHERE id = ?`,
        settlement.platformId,
        now,
        id,
      );
      return;
    case 'retry':
      database.run(
        `UPDATE outbox SET state = 'pending', not_before = ?, error = ? WHERE id = ?`,
        settlement.notBefore,
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
    `UPDATE outbox SET state = 'pending' WHERE state IN ('pending', 'attempting') AND state = 'attempting'`,
  );
}
