/** Who may write because a person said so, and who was turned away. */
import { present } from '../../lib/assert.ts';
import type { Person, Refusal } from '../store.ts';
import type { Database } from './open-database.ts';

const refusalsMax = 1000;

const personColumns = 'channel, user_id AS userId, name, role, added_at AS addedAt';

/** What rows about somebody have in common: ids and names as JSON. */
type Named = { readonly userId: string; readonly name: string };

export function toNamed<Row extends Named>(row: Row): Row {
  return { ...row, userId: JSON.parse(row.userId) as string, name: JSON.parse(row.name) as string };
}

/** Somebody who is there already keeps their time; what they asked for with a code is settled. */
export function addPerson(database: Database, now: number, person: Omit<Person, 'addedAt'>): void {
  keepPerson(database, now, person);
}

export function keepPerson(database: Database, now: number, person: Omit<Person, 'addedAt'>): Person {
  const userId = JSON.stringify(person.userId);
  database.run('DELETE FROM pairings WHERE channel = ? AND user_id = ?', person.channel, userId);
  const kept = database.get<Person>(
    `INSERT INTO people (channel, user_id, name, role, added_at) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (channel, user_id) DO UPDATE SET name = excluded.name, role = excluded.role
     RETURNING ${personColumns}`,
    person.channel,
    userId,
    JSON.stringify(person.name),
    person.role,
    now,
  );
  return toNamed(present(kept, 'the person'));
}

export function removePerson(database: Database, _now: number, channel: string, userId: string): boolean {
  return database.run('DELETE FROM people WHERE channel = ? AND user_id = ?', channel, JSON.stringify(userId)) > 0;
}

export function readPeople(database: Database): Person[] {
  return database.all<Person>(`SELECT ${personColumns} FROM people ORDER BY number`).map(toNamed);
}

export function recordRefusal(
  database: Database,
  now: number,
  { channel, userId, name }: Pick<Refusal, 'channel' | 'userId' | 'name'>,
): void {
  database.run(
    `INSERT INTO refusals (number, channel, user_id, name, count, last_at)
     VALUES (1 + coalesce((SELECT max(number) FROM refusals), 0), ?, ?, ?, 1, ?)
     ON CONFLICT (channel, user_id) DO UPDATE
     SET number = excluded.number, name = excluded.name, count = count + 1, last_at = excluded.last_at`,
    channel,
    JSON.stringify(userId),
    JSON.stringify(name),
    now,
  );
  database.run(
    'DELETE FROM refusals WHERE number <= (SELECT number FROM refusals ORDER BY number DESC LIMIT 1 OFFSET ?)',
    refusalsMax,
  );
}

export function readRefusals(database: Database, limit: number): Refusal[] {
  return database
    .all<Refusal>(
      `SELECT channel, user_id AS userId, name, count, last_at AS lastAt FROM refusals ORDER BY number DESC LIMIT ?`,
      limit,
    )
    .map(toNamed);
}
