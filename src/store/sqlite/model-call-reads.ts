/** The reading verbs about model calls: the calls themselves, how their prompts began, and what they add up to. */
import type { SessionId, TurnId } from '../../protocol/ids.ts';
import type { Effort, ModelCallRecord, UsageSum } from '../../protocol/usage.ts';
import type { PromptTrail } from '../store.ts';
import type { Database } from './open-database.ts';

type ModelCallRow = Omit<ModelCallRecord, 'usage'> & {
  /** Null if it used nothing. */
  readonly inputTokens: number | null;
  readonly cachedTokens: number;
  readonly cacheWriteTokens: number;
  readonly outputTokens: number;
  readonly reasoningTokens: number;
  readonly usd: number | null;
};

const modelCallColumns = `id, turn_id AS turnId, purpose, provider, model, key_id AS keyId, state,
  started_at AS startedAt, ended_at AS endedAt, input_tokens AS inputTokens, cached_tokens AS cachedTokens,
  cache_write_tokens AS cacheWriteTokens, output_tokens AS outputTokens, reasoning_tokens AS reasoningTokens, usd, error,
  units AS promptUnits, kept AS promptUnitsKept, prefix_break AS prefixBreak`;

export function readModelCalls(database: Database, id: SessionId, turnId?: TurnId): ModelCallRecord[] {
  const rows =
    turnId === undefined
      ? database.all<ModelCallRow>(
          `SELECT ${modelCallColumns} FROM model_calls WHERE session_id = ? ORDER BY number`,
          id,
        )
      : database.all<ModelCallRow>(
          `SELECT ${modelCallColumns} FROM model_calls WHERE session_id = ? AND turn_id = ? ORDER BY number`,
          id,
          turnId,
        );
  return rows.map(toModelCall);
}

function toModelCall(row: ModelCallRow): ModelCallRecord {
  const { inputTokens, cachedTokens, cacheWriteTokens, outputTokens, reasoningTokens, usd, error, ...rest } = row;
  return {
    ...rest,
    usage:
      inputTokens === null ? null : { inputTokens, cachedTokens, cacheWriteTokens, outputTokens, reasoningTokens, usd },
    error: error === null ? null : (JSON.parse(error) as string),
  };
}

interface StepRow {
  readonly kept: number;
  /** JSON. */
  readonly added: string;
  readonly headSeq: number;
  readonly effort: Effort | null;
}

/**
 * Every call that was started counts: its prompt may have been sent, whatever became of it. From the newest back, each to
 * the one that it kept something of, so that most of a long session is not read.
 */
export function readPromptTrail(database: Database, id: SessionId, runtime: string): PromptTrail | null {
  const steps = database.all<StepRow>(
    `WITH RECURSIVE trail (number, kept, kept_of, added, head_seq, effort) AS (
       SELECT * FROM (
         SELECT number, kept, kept_of, added, head_seq, effort FROM model_calls
         WHERE session_id = ? AND runtime = ? ORDER BY number DESC LIMIT 1)
       UNION ALL
       SELECT call.number, call.kept, call.kept_of, call.added, call.head_seq, call.effort
       FROM trail CROSS JOIN model_calls AS call ON call.number = trail.kept_of
     ) SELECT kept, added, head_seq AS headSeq, effort FROM trail ORDER BY number DESC`,
    id,
    runtime,
  );
  const [newest] = steps;
  if (newest === undefined) return null;
  const parts: string[][] = [];
  let wanted = Infinity;
  for (const { kept, added } of steps) {
    parts.push((JSON.parse(added) as string[]).slice(0, wanted - kept));
    wanted = kept;
  }
  return { units: parts.reverse().flat(), headSeq: newest.headSeq, effort: newest.effort };
}

export function readUsageSums(database: Database, sinceDay: string): UsageSum[] {
  return database
    .all<UsageSum>(
      `SELECT day, channel, user, provider, model, purpose, calls, input_tokens AS inputTokens,
         cached_tokens AS cachedTokens, cache_write_tokens AS cacheWriteTokens, output_tokens AS outputTokens,
         reasoning_tokens AS reasoningTokens, usd, unpriced_calls AS unpricedCalls
       FROM usage_sums WHERE day >= ? ORDER BY day DESC, channel, user, provider, model, purpose`,
      sinceDay,
    )
    .map((row) => ({ ...row, user: JSON.parse(row.user) as string }));
}
