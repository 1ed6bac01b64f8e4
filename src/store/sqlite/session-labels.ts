/** What people and models say about a session beside talking in it: its settings and its title. */
import type { SessionSettings } from '../../protocol/api.ts';
import type { SessionId } from '../../protocol/ids.ts';
import type { SessionWrite } from '../store.ts';
import type { Database } from './open-database.ts';
import type { SessionDraft } from './session-draft.ts';

export function changeSettings(
  database: Database,
  _now: number,
  sessionId: SessionId,
  { model, effort }: SessionSettings,
): boolean {
  const sql = 'UPDATE sessions SET settings = ? WHERE id = ?';
  return database.run(sql, JSON.stringify({ model, effort }), sessionId) > 0;
}

/** A person's title is replaced by a person only. Another title is an entry of the log. */
export function setTitle(draft: SessionDraft, { title, by }: SessionWrite & { verb: 'set-title' }): void {
  const { database, sessionId } = draft;
  const before = database.get<{ title: string; titledBy: string }>(
    'SELECT title, titled_by AS titledBy FROM sessions WHERE id = ?',
    sessionId,
  );
  if (before?.titledBy === 'person' && by !== 'person') return;
  database.run('UPDATE sessions SET title = ?, titled_by = ? WHERE id = ?', title, by, sessionId);
  if (before?.title !== title) draft.append(null, { kind: 'titled', title, by });
}
