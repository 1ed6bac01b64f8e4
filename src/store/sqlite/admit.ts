/** Admission: an arriving message and, if need be, its session become durable together. */
import type { SessionId } from '../../protocol/ids.ts';
import { present } from '../../lib/assert.ts';
import type { Admission, AdmitResult, SessionRecord } from '../store.ts';
import { keepContents } from './contents.ts';
import type { Database } from './open-database.ts';
import { readSession, readSessionByKey } from './reads.ts';
import { inboxColumns, toInbox, type InboxRow } from './rows.ts';

/** As `sessionNameProblem` in the protocol has it. */
const nameCharsMax = 64;
const shortestSuffixChars = 4;

export function admit(database: Database, now: number, admission: Admission): AdmitResult {
  const externalId = JSON.stringify(admission.externalId);
  const earlier = database.get<InboxRow>(
    `SELECT ${inboxColumns} FROM inbox WHERE channel = ? AND external_id = ?`,
    admission.channel,
    externalId,
  );
  if (earlier !== undefined) {
    const session = present(readSession(database, earlier.sessionId), `the session of ${earlier.id}`);
    return { kind: 'duplicate', record: toInbox(earlier), session };
  }

  const found = findSession(database, admission.session);
  if (found === null && admission.session.kind === 'existing') return { kind: 'refused', reason: 'no-such-session' };
  const waiting = found === null ? 0 : countWaiting(database, found.id);
  if (waiting >= admission.waitingMax) return { kind: 'refused', reason: 'queue-full' };

  if (found === null && admission.session.kind === 'by-key') createSession(database, now, admission.session);
  const sessionId = found?.id ?? admission.session.id;
  database.run(
    `INSERT INTO inbox (id, session_id, channel, external_id, sender, message, target, received_at, joins, state)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 'waiting')`,
    admission.inboxId,
    sessionId,
    admission.channel,
    externalId,
    JSON.stringify(admission.sender),
    JSON.stringify(admission.message),
    JSON.stringify(admission.target),
    now,
    admission.joins === undefined ? null : Number(admission.joins),
  );
  database.run(
    `UPDATE sessions SET updated_at = max(updated_at, ?),
       title = CASE WHEN title = '' AND titled_by = 'words' THEN ? ELSE title END
     WHERE id = ?`,
    now,
    admission.title,
    sessionId,
  );
  keepContents(database, sessionId, admission.contents);
  const session = present(readSession(database, sessionId), `the session of ${admission.inboxId}`);
  return { kind: 'admitted', inboxId: admission.inboxId, session, created: found === null };
}

function findSession(database: Database, wanted: Admission['session']): SessionRecord | null {
  return wanted.kind === 'existing' ? readSession(database, wanted.id) : readSessionByKey(database, wanted.key);
}

function countWaiting(database: Database, id: SessionId): number {
  const sql = `SELECT count(*) AS count FROM inbox WHERE session_id = ? AND state = 'waiting'`;
  return database.get<{ count: number }>(sql, id)?.count ?? 0;
}

function createSession(database: Database, now: number, wanted: Admission['session'] & { kind: 'by-key' }): void {
  database.run(
    `INSERT INTO sessions (id, key, name, owner, title, created_at, updated_at) VALUES (?, ?, ?, ?, '', ?, ?)`,
    wanted.id,
    wanted.key,
    freeName(database, wanted.name, wanted.id),
    JSON.stringify(wanted.owner),
    now,
    now,
  );
}

/** The name itself, or with as much of the id's end as makes it unique. */
function freeName(database: Database, name: string, id: SessionId): string {
  if (!isNameTaken(database, name)) return name;
  for (let length = shortestSuffixChars; length < id.length; length += 2) {
    const suffix = `-${id.slice(-length)}`;
    const candidate = `${name
      .slice(0, nameCharsMax - suffix.length)
      .toWellFormed()
      .trimEnd()}${suffix}`;
    if (!isNameTaken(database, candidate)) return candidate;
  }
  return id;
}

export function isNameTaken(database: Database, name: string): boolean {
  return database.get('SELECT 1 FROM sessions WHERE name = ?', name) !== undefined;
}
