/** What models used and what it cost. Shared by the store, the API and every front end. */
import type { ModelCallId, TurnId } from './ids.ts';

export interface TokenUsage {
  /** Everything the model read, cached or not. */
  readonly inputTokens: number;
  /** Of those, read from the provider's cache. */
  readonly cachedTokens: number;
  /** Of those, written to the provider's cache, where it says so and charges for it. */
  readonly cacheWriteTokens: number;
  /** Everything the model wrote, reasoning included. */
  readonly outputTokens: number;
  /** Of those, reasoning. */
  readonly reasoningTokens: number;
}

/** `usd` is null where no price is known: unknown is said, not guessed as 0. */
export interface Usage extends TokenUsage {
  readonly usd: number | null;
}

export const noTokens: TokenUsage = {
  inputTokens: 0,
  cachedTokens: 0,
  cacheWriteTokens: 0,
  outputTokens: 0,
  reasoningTokens: 0,
};

/** What a model is asked for: a turn's answer, its summary when the budget is spent, or a side job. */
export type ModelCallPurpose = 'answer' | 'summarise' | 'title' | 'compression' | 'approval' | 'vision';

/** How hard a model should think; null elsewhere stands for the provider's own choice. */
export const efforts = ['none', 'minimal', 'low', 'medium', 'high', 'max'] as const;
export type Effort = (typeof efforts)[number];

/**
 * Why a prompt does not begin like the one before it on the same runtime. `first-call`: there was none before;
 * `other-model`: this session spoke to another model until now. `thought-missing`: a model that thinks asked for a tool
 * without a thought, and can't be asked to think until its turn is over. `unexplained` is a bug, and counted as one.
 */
export type PrefixReason =
  | 'first-call'
  | 'other-model'
  | 'model-changed'
  | 'toolset-changed'
  | 'system-prompt-changed'
  | 'registry-changed'
  | 'effort-changed'
  | 'thought-missing'
  | 'compressed'
  | 'rewound'
  | 'unexplained';

/** One call of a model, as it is stored and shown. */
export interface ModelCallRecord {
  readonly id: ModelCallId;
  /** Null for a side job between turns. */
  readonly turnId: TurnId | null;
  readonly purpose: ModelCallPurpose;
  readonly provider: string;
  readonly model: string;
  /** Which key of the pool, by its fingerprint; empty where no key is needed. */
  readonly keyId: string;
  /** `lost`: the process died in it; what it cost is an estimate. */
  readonly state: 'started' | 'completed' | 'failed' | 'cancelled' | 'lost';
  readonly startedAt: number;
  readonly endedAt: number | null;
  /** Null while it is under way, and if it failed before anything was used. */
  readonly usage: Usage | null;
  readonly error: string | null;
  /** How many units of the prompt there were, and how many of the first ones were those of the call before. */
  readonly promptUnits: number;
  readonly promptUnitsKept: number;
  /** Why not all units of the call before were kept; null if they were. */
  readonly prefixBreak: PrefixReason | null;
}

/** Sums over model calls that have all of these in common. */
export interface UsageSum extends TokenUsage {
  /** `YYYY-MM-DD`, where the gateway runs. */
  readonly day: string;
  readonly channel: string;
  readonly user: string;
  readonly provider: string;
  readonly model: string;
  readonly purpose: ModelCallPurpose;
  readonly calls: number;
  /** Of the priced calls. */
  readonly usd: number;
  /** Calls whose price is not known; `usd` says nothing about them. */
  readonly unpricedCalls: number;
}
