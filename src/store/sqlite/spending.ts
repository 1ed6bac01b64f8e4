/**
 * What models used, wherever it is summed: in the session, by day, channel, user and model, and since the store began.
 * All sums change in the transaction that ends the call, so that they agree; and the budget is checked against them in
 * the transaction that starts one, so that two calls can't both take what is left.
 */
import type { SessionId } from '../../protocol/ids.ts';
import type { ModelCallPurpose, Usage } from '../../protocol/usage.ts';
import type { Database } from './open-database.ts';

/** What an ended call counts for, under the names of its columns. */
export interface Account {
  readonly sessionId: SessionId;
  readonly day: string;
  readonly channel: string;
  /** JSON. */
  readonly user: string;
  readonly provider: string;
  readonly model: string;
  readonly purpose: ModelCallPurpose;
}

export const accountColumns = 'session_id AS sessionId, day, channel, user, provider, model, purpose';

export function addUsage(database: Database, account: Account, usage: Usage): void {
  addToSums(database, account, usage);
  database.run(
    `UPDATE totals SET input_tokens = input_tokens + ?, cached_tokens = cached_tokens + ?,
       cache_write_tokens = cache_write_tokens + ?, output_tokens = output_tokens + ?,
       reasoning_tokens = reasoning_tokens + ?, usd = usd + ?, calls_priced = calls_priced + ?,
       calls_unpriced = calls_unpriced + ?`,
    usage.inputTokens,
    usage.cachedTokens,
    usage.cacheWriteTokens,
    usage.outputTokens,
    usage.reasoningTokens,
    usage.usd ?? 0,
    usage.usd === null ? 0 : 1,
    usage.usd === null ? 1 : 0,
  );
  database.run('UPDATE sessions SET spent_usd = spent_usd + ? WHERE id = ?', usage.usd ?? 0, account.sessionId);
}

function addToSums(database: Database, account: Account, usage: Usage): void {
  database.run(
    `INSERT INTO usage_sums (day, channel, user, provider, model, purpose, calls, input_tokens, cached_tokens,
       cache_write_tokens, output_tokens, reasoning_tokens, usd, unpriced_calls)
     VALUES (?, ?, ?, ?, ?, ?, 1, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (day, channel, user, provider, model, purpose) DO UPDATE SET calls = calls + 1,
       input_tokens = input_tokens + excluded.input_tokens, cached_tokens = cached_tokens + excluded.cached_tokens,
       cache_write_tokens = cache_write_tokens + excluded.cache_write_tokens,
       output_tokens = output_tokens + excluded.output_tokens,
       reasoning_tokens = reasoning_tokens + excluded.reasoning_tokens, usd = usd + excluded.usd,
       unpriced_calls = unpriced_calls + excluded.unpriced_calls`,
    account.day,
    account.channel,
    account.user,
    account.provider,
    account.model,
    account.purpose,
    usage.inputTokens,
    usage.cachedTokens,
    usage.cacheWriteTokens,
    usage.outputTokens,
    usage.reasoningTokens,
    usage.usd ?? 0,
    usage.usd === null ? 1 : 0,
  );
}

/** By calls that have ended. */
export function spentBySession(database: Database, sessionId: SessionId): number {
  const sql = 'SELECT spent_usd AS usd FROM sessions WHERE id = ?';
  return database.get<{ usd: number }>(sql, sessionId)?.usd ?? 0;
}

/** By calls that have ended, with what calls under way may cost, in whichever session. */
export function spentOnDay(database: Database, day: string): number {
  const sql = `SELECT (SELECT total(usd) FROM usage_sums WHERE day = ?)
    + (SELECT total(reserved_usd) FROM model_calls WHERE state = 'started' AND day = ?) AS usd`;
  return database.get<{ usd: number }>(sql, day, day)?.usd ?? 0;
}
