/**
 * Drafts: messages on a platform that show work in progress. A session has one at most. The first part of what a turn
 * has to say takes its place; what no turn wrote leaves it alone, for the work goes on.
 */
import type { SessionId } from '../../protocol/ids.ts';
import type { Draft } from '../store.ts';
import type { Database } from './open-database.ts';
import type { OutboxRow } from './rows.ts';

export function noteDraft(
  database: Database,
  _now: number,
  sessionId: SessionId,
  draft: Omit<Draft, 'sessionId'> | null,
): void {
  if (draft === null) {
    database.run('DELETE FROM drafts WHERE session_id = ?', sessionId);
    return;
  }
  // Of a session that was removed meanwhile there is nothing to show.
  database.run(
    `INSERT INTO drafts (session_id, channel, target, platform_id)
     SELECT id, ?, ?, ? FROM sessions WHERE id = ?
     ON CONFLICT (session_id) DO UPDATE
     SET channel = excluded.channel, target = excluded.target, platform_id = excluded.platform_id`,
    draft.channel,
    JSON.stringify(draft.target),
    JSON.stringify(draft.platformId),
    sessionId,
  );
}

type Beginning = Pick<OutboxRow, 'sessionId' | 'turnId' | 'channel' | 'target' | 'file' | 'partsSent'>;

/** Work in progress is a text; no file takes its place. */
function leavesDraft({ turnId, partsSent, file }: Beginning): boolean {
  return turnId === null || partsSent > 0 || file !== null;
}

/** The draft whose place the delivery's next part takes. `target` is JSON, as stored. */
export function draftOf(database: Database, delivery: Beginning): string | null {
  if (leavesDraft(delivery)) return null;
  const row = database.get<{ platformId: string }>(
    'SELECT platform_id AS platformId FROM drafts WHERE session_id = ? AND channel = ? AND target = ?',
    delivery.sessionId,
    delivery.channel,
    delivery.target,
  );
  return row === undefined ? null : (JSON.parse(row.platformId) as string);
}

/** For a delivery whose next part has arrived. */
export function forgetDraftBehind(database: Database, delivery: Beginning): void {
  if (leavesDraft(delivery)) return;
  database.run(
    'DELETE FROM drafts WHERE session_id = ? AND channel = ? AND target = ?',
    delivery.sessionId,
    delivery.channel,
    delivery.target,
  );
}

export function readDrafts(database: Database, channel: string): Draft[] {
  return database
    .all<Draft>(
      `SELECT session_id AS sessionId, channel, target, platform_id AS platformId FROM drafts
       WHERE channel = ? ORDER BY session_id`,
      channel,
    )
    .map((row) => ({
      ...row,
      target: JSON.parse(row.target) as string,
      platformId: JSON.parse(row.platformId) as string,
    }));
}
