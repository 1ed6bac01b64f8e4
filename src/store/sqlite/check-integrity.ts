/**
 * Looks for what must never be: damage that SQLite finds, dangling references, and broken rules of our own. Reads
 * everything, so it runs off the main loop.
 */
import { StoreError } from '../store.ts';
import type { Database } from './open-database.ts';

const problemsMax = 100;

/** Each query yields one text per breach. */
const rules: readonly string[] = [
  `SELECT 'session ' || id || ' says its log ends at ' || last_seq || ', but it has ' || found || ' entries up to ' || newest AS problem
   FROM (SELECT sessions.id, last_seq, count(entries.seq) AS found, coalesce(max(entries.seq), 0) AS newest
         FROM sessions LEFT JOIN entries ON entries.session_id = sessions.id GROUP BY sessions.id)
   WHERE found <> last_seq OR newest <> last_seq`,
  `SELECT 'entry ' || seq || ' of session ' || session_id || ' is not readable' AS problem
   FROM entries WHERE NOT json_valid(body)`,
  `SELECT 'session ' || id || ' counts ' || messages || ' messages, but has ' || found AS problem
   FROM (SELECT sessions.id, messages,
           (SELECT count(*) FROM entries WHERE session_id = sessions.id AND json_valid(body)
              AND body ->> '$.kind' = 'message'
              AND (body ->> '$.message.role' = 'assistant' OR body ->> '$.inboxId' IS NOT NULL)) AS found
         FROM sessions)
   WHERE found <> messages`,
  `SELECT 'session ' || id || ' has the turn state ' || turn || ', which its turns do not show' AS problem
   FROM sessions
   WHERE (turn = 'open') <> EXISTS (SELECT 1 FROM turns WHERE session_id = sessions.id AND state = 'open')
     OR (turn = 'parked' AND NOT EXISTS (SELECT 1 FROM turns WHERE session_id = sessions.id AND state = 'parked'))`,
  `SELECT 'call ' || tool_calls.id || ' is ' || tool_calls.state || ', but its turn is ' || turns.state AS problem
   FROM tool_calls JOIN turns ON turns.session_id = tool_calls.session_id AND turns.id = tool_calls.turn_id
   WHERE tool_calls.state IN ('planned', 'started', 'waiting') AND turns.state <> 'open'`,
  `SELECT 'message ' || inbox.id || ' is ' || inbox.state || ', but its turn is ' || coalesce(turns.state, 'missing') AS problem
   FROM inbox LEFT JOIN turns ON turns.session_id = inbox.session_id AND turns.id = inbox.turn_id
   WHERE inbox.state <> 'waiting' AND (turns.state IS NULL OR (inbox.state = 'promoted') <> (turns.state = 'open'))`,
];

export function checkIntegrity(database: Database): string[] {
  try {
    return database.moment(() => [...sqliteProblems(database), ...ruleBreaches(database)].slice(0, problemsMax));
  } catch (error) {
    // Damage so deep that the check itself trips over it is a finding, not a failure of the check.
    if (error instanceof StoreError && error.reason === 'damaged') return [error.message];
    throw error;
  }
}

function sqliteProblems(database: Database): string[] {
  const found = database
    .all<{ integrity_check: string }>(`PRAGMA integrity_check(${problemsMax})`)
    .map((row) => row.integrity_check)
    .filter((line) => line !== 'ok');
  const dangling = database
    .all<{ table: string; parent: string }>('PRAGMA foreign_key_check')
    .map((row) => `a row of ${row.table} refers to a row of ${row.parent} that is not there`);
  return [...found, ...dangling];
}

function ruleBreaches(database: Database): string[] {
  return rules.flatMap((rule) => database.all<{ problem: string }>(rule).map((row) => row.problem));
}
