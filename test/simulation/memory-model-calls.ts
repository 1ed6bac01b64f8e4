/** Model calls on the in-memory data: what they reserve, use and add up to, and how their prompts began. */
import type { TurnId } from '../../src/protocol/ids.ts';
import { noTokens, type Usage } from '../../src/protocol/usage.ts';
import { requireBudget } from '../../src/store/require-budget.ts';
import type { PromptStep, PromptTrail, SessionWrite } from '../../src/store/store.ts';
import {
  conflict,
  frozenCopy,
  requireOpen,
  type MemoryData,
  type ModelCallRow,
  type SessionRows,
  type Transaction,
} from './memory-data.ts';

export function startModelCall(
  on: Transaction,
  session: SessionRows,
  write: SessionWrite & { verb: 'start-model-call' },
): void {
  const turn = write.turnId === null ? null : requireOpen(session, write.turnId);
  loseModelCalls(on, session);
  requireBudget(write, {
    sessionUsd: () => spentBySession(session),
    dayUsd: () => spentOnDay(on.data, write.day),
  });
  requireFittingPrompt(session, write.prompt);
  if (session.modelCalls.has(write.modelCallId)) throw conflict(`${write.modelCallId} was started before`);
  const origin = turn ?? [...session.turns.values()].sort((a, b) => b.firstSeq - a.firstSeq)[0];
  const prompt = frozenCopy(write.prompt);
  const { turnId, purpose, provider, model, keyId, day, reservedUsd } = write;
  on.set(session.modelCalls, write.modelCallId, {
    id: write.modelCallId,
    turnId,
    purpose,
    provider,
    model,
    keyId,
    state: 'started',
    startedAt: on.now,
    endedAt: null,
    usage: null,
    error: null,
    promptUnits: prompt.kept + prompt.added.length,
    promptUnitsKept: prompt.kept,
    prefixBreak: prompt.prefixBreak,
    prompt,
    day,
    channel: origin?.channel ?? '',
    user: origin?.sender ?? '',
    reservedUsd,
    answerSeq: null,
  });
  if (turn !== null) on.assign(turn, { modelCalls: turn.modelCalls + 1 });
  const { totals } = on.data;
  if (prompt.prefixBreak === 'unexplained') on.assign(totals, { prefixBreaks: totals.prefixBreaks + 1 });
}

function spentBySession({ modelCalls }: SessionRows): number {
  return total([...modelCalls.values()].map((call) => call.usage?.usd));
}

function spentOnDay(data: MemoryData, day: string): number {
  const underWay = [...data.sessions.values()]
    .flatMap(({ modelCalls }) => [...modelCalls.values()])
    .filter((call) => call.state === 'started' && call.day === day);
  const sums = [...data.usageSums.values()].filter((sum) => sum.day === day);
  return total(sums.map((sum) => sum.usd)) + total(underWay.map((call) => call.reservedUsd));
}

function total(amounts: readonly (number | null | undefined)[]): number {
  return amounts.reduce<number>((sum, amount) => sum + (amount ?? 0), 0);
}

function requireFittingPrompt(session: SessionRows, { runtime, kept, prefixBreak }: PromptStep): void {
  const before = promptTrailOf(session, runtime);
  if (kept > (before?.units.length ?? 0)) throw conflict(`there are no ${kept} units to keep`);
  const isWhole = before !== null && kept === before.units.length;
  if (isWhole !== (prefixBreak === null)) throw conflict(`a prompt that keeps ${kept} units is marked ${prefixBreak}`);
}

export function promptTrailOf(session: SessionRows | undefined, runtime: string): PromptTrail | null {
  const steps = [...(session?.modelCalls.values() ?? [])].flatMap(({ prompt }) =>
    prompt.runtime === runtime ? prompt : [],
  );
  return steps.reduce<PromptTrail | null>(
    (before, { kept, added, headSeq, effort }) => ({
      units: [...(before?.units ?? []).slice(0, kept), ...added],
      headSeq,
      effort,
    }),
    null,
  );
}

export function endModelCall(
  on: Transaction,
  session: SessionRows,
  write: SessionWrite & { verb: 'end-model-call' },
): void {
  const call = session.modelCalls.get(write.modelCallId);
  if (call?.state !== 'started') throw conflict(`model call ${write.modelCallId} is not under way`);
  const { outcome: state, usage, error } = write;
  on.assign(call, { state, endedAt: on.now, usage: frozenCopy(usage), error });
  if (state !== 'completed') uncount(on, session, call);
  if (usage !== null) addUsage(on, call, usage);
}

/** Those that are still under way, or only those of one turn: they count as having cost what was reserved for them. */
export function loseModelCalls(on: Transaction, session: SessionRows, turnId?: TurnId): void {
  for (const call of session.modelCalls.values()) {
    if (call.state !== 'started' || (turnId !== undefined && call.turnId !== turnId)) continue;
    const usage = { ...noTokens, usd: call.reservedUsd };
    on.assign(call, { state: 'lost', endedAt: on.now, usage });
    addUsage(on, call, usage);
    uncount(on, session, call);
  }
}

/** What came to nothing is not held against its turn. */
function uncount(on: Transaction, session: SessionRows, { turnId }: ModelCallRow): void {
  const turn = turnId === null ? undefined : session.turns.get(turnId);
  if (turn !== undefined) on.assign(turn, { modelCalls: turn.modelCalls - 1 });
}

function addUsage(on: Transaction, call: ModelCallRow, usage: Usage): void {
  const { day, channel, user, provider, model, purpose } = call;
  const key = JSON.stringify([day, channel, user, provider, model, purpose]);
  const before = on.data.usageSums.get(key);
  on.set(on.data.usageSums, key, {
    day,
    channel,
    user,
    provider,
    model,
    purpose,
    calls: (before?.calls ?? 0) + 1,
    inputTokens: (before?.inputTokens ?? 0) + usage.inputTokens,
    cachedTokens: (before?.cachedTokens ?? 0) + usage.cachedTokens,
    cacheWriteTokens: (before?.cacheWriteTokens ?? 0) + usage.cacheWriteTokens,
    outputTokens: (before?.outputTokens ?? 0) + usage.outputTokens,
    reasoningTokens: (before?.reasoningTokens ?? 0) + usage.reasoningTokens,
    usd: (before?.usd ?? 0) + (usage.usd ?? 0),
    unpricedCalls: (before?.unpricedCalls ?? 0) + (usage.usd === null ? 1 : 0),
  });
}
