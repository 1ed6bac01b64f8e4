/** The bytes that messages refer to: kept by their hash, each once, for as long as any session refers to them. */
import type { SessionId } from '../../protocol/ids.ts';
import type { Entry } from '../../protocol/messages.ts';
import { contentHashes } from '../content-hashes.ts';
import type { Content } from '../store.ts';
import type { Database } from './open-database.ts';
import { conflict } from './session-draft.ts';

export function keepContents(database: Database, sessionId: SessionId, contents: readonly Content[]): void {
  for (const { sha256, bytes } of contents) {
    database.run('INSERT INTO contents (sha256, bytes) VALUES (?, ?) ON CONFLICT (sha256) DO NOTHING', sha256, bytes);
    database.run(
      'INSERT INTO session_contents (session_id, sha256) VALUES (?, ?) ON CONFLICT (session_id, sha256) DO NOTHING',
      sessionId,
      sha256,
    );
  }
}

/** Of what a session from elsewhere names, what is here. */
export function adoptContents(database: Database, sessionId: SessionId, entries: readonly Entry[]): void {
  for (const sha256 of contentHashes(entries)) {
    database.run(
      `INSERT INTO session_contents (session_id, sha256) SELECT ?, sha256 FROM contents WHERE sha256 = ?
       ON CONFLICT (session_id, sha256) DO NOTHING`,
      sessionId,
      sha256,
    );
  }
}

/** What is sent must be there for as long as what sends it. */
export function requireContent(database: Database, sessionId: SessionId | null, sha256: string): void {
  if (sessionId !== null && readHoldsContent(database, sessionId, sha256)) return;
  throw conflict(`the content ${sha256} of a file to send is not the session's`);
}

/** What no other session refers to goes. */
export function dropContents(database: Database, sessionId: SessionId): void {
  const dropped = database.all<{ sha256: string }>(
    'DELETE FROM session_contents WHERE session_id = ? RETURNING sha256',
    sessionId,
  );
  for (const { sha256 } of dropped) {
    database.run(
      `DELETE FROM contents WHERE sha256 = ?
         AND NOT EXISTS (SELECT 1 FROM session_contents WHERE session_contents.sha256 = contents.sha256)`,
      sha256,
    );
  }
}

export function readContent(database: Database, sha256: string): Uint8Array | null {
  return database.get<{ bytes: Uint8Array }>('SELECT bytes FROM contents WHERE sha256 = ?', sha256)?.bytes ?? null;
}

export function readHoldsContent(database: Database, sessionId: SessionId, sha256: string): boolean {
  const sql = 'SELECT 1 FROM session_contents WHERE session_id = ? AND sha256 = ?';
  return database.get(sql, sessionId, sha256) !== undefined;
}
