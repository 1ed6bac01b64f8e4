/** The verbs about model calls: recorded with their prompt and their reservation before they start, and when they end. */
import type { TurnId } from '../../protocol/ids.ts';
import { requireBudget } from '../require-budget.ts';
import type { PromptStep, SessionWrite } from '../store.ts';
import { countModelCall, loseModelCalls } from './lost-model-calls.ts';
import { conflict, type SessionDraft } from './session-draft.ts';
import { accountColumns, addUsage, spentBySession, spentOnDay, type Account } from './spending.ts';
import { nobody, type Origin } from './turn-writes.ts';

export function startModelCall(draft: SessionDraft, write: SessionWrite & { verb: 'start-model-call' }): void {
  const { database, sessionId } = draft;
  if (write.turnId !== null) draft.requireOpenTurn(write.turnId);
  loseModelCalls(database, draft.now, sessionId);
  requireBudget(write, {
    sessionUsd: () => spentBySession(database, sessionId),
    dayUsd: () => spentOnDay(database, write.day),
  });
  const before = callBefore(draft, write.prompt);
  requireFittingPrompt(write.prompt, before);
  insertModelCall(draft, write, keptOf(draft, write.prompt, before));
  if (write.turnId !== null) countModelCall(draft.database, draft.sessionId, write.turnId, 1);
  if (write.prompt.prefixBreak === 'unexplained') {
    database.run('UPDATE totals SET prefix_breaks = prefix_breaks + 1');
  }
}

interface CallBefore {
  readonly number: number;
  readonly units: number;
  readonly kept: number;
  readonly keptOf: number | null;
}

const callColumns = 'number, units, kept, kept_of AS keptOf';

function callBefore({ database, sessionId }: SessionDraft, { runtime }: PromptStep): CallBefore | undefined {
  return database.get<CallBefore>(
    `SELECT ${callColumns} FROM model_calls WHERE session_id = ? AND runtime = ? ORDER BY number DESC LIMIT 1`,
    sessionId,
    runtime,
  );
}

/** What is stored of a prompt is only what it adds, so that a step which does not fit the one before would spoil all after it. */
function requireFittingPrompt({ runtime, kept, prefixBreak }: PromptStep, before: CallBefore | undefined): void {
  if (kept > (before?.units ?? 0)) {
    throw conflict(`the prompt before on ${runtime} had ${before?.units ?? 0} units, so that ${kept} can't be kept`);
  }
  const isWhole = before !== undefined && kept === before.units;
  if (isWhole !== (prefixBreak === null)) {
    throw conflict(`a prompt that keeps ${kept} of ${before?.units ?? 'no'} units can't be marked ${prefixBreak}`);
  }
}

/** Over those that kept as much or more: each says where the next one is to be found. */
function keptOf({ database }: SessionDraft, { kept }: PromptStep, before: CallBefore | undefined): number | null {
  if (kept === 0) return null;
  let call = before;
  while (call !== undefined && call.kept >= kept) {
    if (call.keptOf === null) return null;
    call = database.get<CallBefore>(`SELECT ${callColumns} FROM model_calls WHERE number = ?`, call.keptOf);
  }
  return call?.number ?? null;
}

function insertModelCall(
  draft: SessionDraft,
  write: SessionWrite & { verb: 'start-model-call' },
  keptOfCall: number | null,
): void {
  const { prompt } = write;
  const origin = originOf(draft, write.turnId);
  draft.database.run(
    `INSERT INTO model_calls (session_id, id, turn_id, purpose, provider, model, key_id, state, started_at, day, channel,
       user, reserved_usd, runtime, units, kept, kept_of, added, prefix_break, head_seq, effort)
     VALUES (?, ?, ?, ?, ?, ?, ?, 'started', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    draft.sessionId,
    write.modelCallId,
    write.turnId,
    write.purpose,
    write.provider,
    write.model,
    write.keyId,
    draft.now,
    write.day,
    origin.channel,
    origin.sender,
    write.reservedUsd,
    prompt.runtime,
    prompt.kept + prompt.added.length,
    prompt.kept,
    keptOfCall,
    JSON.stringify(prompt.added),
    prompt.prefixBreak,
    prompt.headSeq,
    prompt.effort,
  );
}

/** For whom the call is. A side job between turns is for whoever spoke last. */
function originOf(draft: SessionDraft, turnId: TurnId | null): Origin {
  const { database, sessionId } = draft;
  const origin =
    turnId === null
      ? database.get<Origin>(
          'SELECT channel, sender FROM turns WHERE session_id = ? ORDER BY first_seq DESC LIMIT 1',
          sessionId,
        )
      : database.get<Origin>('SELECT channel, sender FROM turns WHERE session_id = ? AND id = ?', sessionId, turnId);
  return origin ?? nobody;
}

export function endModelCall(draft: SessionDraft, write: SessionWrite & { verb: 'end-model-call' }): void {
  const { usage } = write;
  const ended = draft.database.get<Account & { readonly turnId: TurnId | null }>(
    `UPDATE model_calls SET state = ?, ended_at = ?, input_tokens = ?, cached_tokens = ?, cache_write_tokens = ?,
       output_tokens = ?, reasoning_tokens = ?, usd = ?, error = ?
     WHERE session_id = ? AND id = ? AND state = 'started'
     RETURNING ${accountColumns}, turn_id AS turnId`,
    write.outcome,
    draft.now,
    usage?.inputTokens ?? null,
    usage?.cachedTokens ?? null,
    usage?.cacheWriteTokens ?? null,
    usage?.outputTokens ?? null,
    usage?.reasoningTokens ?? null,
    usage?.usd ?? null,
    write.error === null ? null : JSON.stringify(write.error),
    draft.sessionId,
    write.modelCallId,
  );
  if (ended === undefined) throw conflict(`model call ${write.modelCallId} of ${draft.sessionId} is not under way`);
  if (write.outcome !== 'completed' && ended.turnId !== null) {
    countModelCall(draft.database, draft.sessionId, ended.turnId, -1);
  }
  if (usage !== null) addUsage(draft.database, ended, usage);
}
