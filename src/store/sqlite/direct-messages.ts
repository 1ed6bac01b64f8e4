/** Messages that no turn wrote. What is answered this way was never admitted, so this is where a repetition is told. */
import type { DirectMessage } from '../store.ts';
import { queueReply } from './deliveries.ts';
import type { Database } from './open-database.ts';

/** No platform repeats a message after so long; what belongs to no session is forgotten then, too. */
const answeredKeptMs = 30 * 24 * 60 * 60 * 1000;

export function queueMessage(database: Database, now: number, message: DirectMessage): boolean {
  forgetOld(database, now - answeredKeptMs);
  if (message.answers !== null && !claimAnswer(database, now, message.answers)) return false;
  queueReply(database, now, message.sessionId, null, message);
  return true;
}

function claimAnswer(database: Database, now: number, answers: NonNullable<DirectMessage['answers']>): boolean {
  const added = database.run(
    'INSERT INTO answered (channel, external_id, at) VALUES (?, ?, ?) ON CONFLICT (channel, external_id) DO NOTHING',
    answers.channel,
    JSON.stringify(answers.externalId),
    now,
  );
  return added > 0;
}

export function readAnswered(database: Database, channel: string, externalId: string): boolean {
  const sql = 'SELECT 1 FROM answered WHERE channel = ? AND external_id = ?';
  return database.get(sql, channel, JSON.stringify(externalId)) !== undefined;
}

function forgetOld(database: Database, before: number): void {
  database.run('DELETE FROM answered WHERE at <= ?', before);
  // By name: left to choose, SQLite would look at all that belong to no session, however young.
  const sql = 'DELETE FROM outbox INDEXED BY outbox_alone WHERE session_id IS NULL AND settled_at <= ?';
  database.run(sql, before);
}
