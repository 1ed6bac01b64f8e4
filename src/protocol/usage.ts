/** What a model call used. `usd` is null where no price is known: unknown is said, not guessed as 0. */
export interface Usage {
  readonly inputTokens: number;
  readonly cachedTokens: number;
  readonly outputTokens: number;
  readonly reasoningTokens: number;
  readonly usd: number | null;
}
