/**
 * Looks for what must never be: damage that SQLite finds, dangling references, and broken rules of our own. Reads
 * everything, so it runs off the main loop.
 */
import { hash } from 'node:crypto';
import { StoreError } from '../store.ts';
import { readContent } from './contents.ts';
import type { Database } from './open-database.ts';

const problemsMax = 100;

/** Sums of prices depend a little on the order in which they were added. */
const roundingShare = 1e-6;

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
  `SELECT 'model call ' || model_calls.id || ' is under way, but its turn is ' || turns.state AS problem
   FROM model_calls JOIN turns ON turns.session_id = model_calls.session_id AND turns.id = model_calls.turn_id
   WHERE model_calls.state = 'started' AND turns.state <> 'open'`,
  `SELECT 'the prompt of model call ' || id || ' keeps ' || kept || ' of the ' || before || ' units before it, has '
     || units || ' units and the reason ' || coalesce(prefix_break, 'none') AS problem
   FROM (SELECT *, coalesce(lag(units) OVER runtimes, 0) AS before, row_number() OVER runtimes = 1 AS is_first
         FROM model_calls WINDOW runtimes AS (PARTITION BY session_id, runtime ORDER BY number))
   WHERE kept > before OR units <> kept + json_array_length(added)
     OR (prefix_break IS NULL) <> (kept = before AND NOT is_first)`,
  `SELECT 'session ' || id || ' says it has spent ' || spent_usd || ', but its model calls cost ' || found AS problem
   FROM (SELECT id, spent_usd, (SELECT total(usd) FROM model_calls WHERE session_id = sessions.id) AS found
         FROM sessions)
   WHERE abs(spent_usd - found) > ${roundingShare} * max(1, found)`,
  `SELECT 'the totals say that ' || totals.usd || ' was spent and ' || totals.input_tokens
     || ' tokens read, but the sums of all days say ' || sums.usd || ' and ' || sums.input_tokens AS problem
   FROM totals, (
     SELECT total(usd) AS usd, coalesce(sum(input_tokens), 0) AS input_tokens,
       coalesce(sum(output_tokens), 0) AS output_tokens, coalesce(sum(calls), 0) AS calls FROM usage_sums
   ) AS sums
   WHERE abs(totals.usd - sums.usd) > ${roundingShare} * max(1, sums.usd)
     OR totals.input_tokens <> sums.input_tokens OR totals.output_tokens <> sums.output_tokens
     OR totals.calls_priced + totals.calls_unpriced <> sums.calls`,
  `SELECT 'entry ' || seq || ' of session ' || session_id || ' goes back to ' || coalesce(body ->> '$.toSeq', 'nowhere')
     || ', which is not before it' AS problem
   FROM entries WHERE json_valid(body) AND body ->> '$.kind' = 'rewound'
     AND (coalesce(body ->> '$.toSeq', -1) < 0 OR body ->> '$.toSeq' >= seq)`,
  `SELECT 'the choices under delivery ' || id || ' are not readable' AS problem FROM outbox WHERE NOT json_valid(buttons)`,
  `SELECT 'the file of delivery ' || id || ' is not held by its session' AS problem
   FROM outbox WHERE file IS NOT NULL AND NOT EXISTS (
     SELECT 1 FROM session_contents AS held
     WHERE held.session_id = outbox.session_id AND held.sha256 = outbox.file ->> '$.content.sha256')`,
  `SELECT 'no session refers to content ' || sha256 AS problem
   FROM contents WHERE NOT EXISTS (SELECT 1 FROM session_contents WHERE session_contents.sha256 = contents.sha256)`,
];

export function checkIntegrity(database: Database): string[] {
  try {
    return database.moment(() =>
      [...sqliteProblems(database), ...ruleBreaches(database), ...contentProblems(database)].slice(0, problemsMax),
    );
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

/** One at a time: together they may be more than fits into memory. */
function contentProblems(database: Database): string[] {
  return database.all<{ sha256: string }>('SELECT sha256 FROM contents').flatMap(({ sha256 }) => {
    const found = hash('sha256', readContent(database, sha256) ?? '');
    return found === sha256 ? [] : [`content ${sha256} has changed: its hash is ${found}`];
  });
}
