/**
 * The providers' prompt caches, worked from the requests as they were received. For each request it says what was
 * cached, what could have been at best (everything that it has in common with an earlier request of the same
 * conversation), and how long the request before it was: a conversation that only grows has all of that in common.
 */
import type { Prompt } from './dialect.ts';
import { MarkCache, type CacheUse } from './mark-cache.ts';
import { PromptHistory } from './prompt-history.ts';
import { sharedTokens, tokensOfBytes } from './tokens.ts';

export interface CacheOptions {
  /** A mark remembers nothing that is shorter. */
  readonly markedTokensMin: number;
  /** Caches that work by themselves remember whole steps, and nothing shorter than the least. */
  readonly automaticStepTokens: number;
  readonly automaticTokensMin: number;
  readonly automaticLifeMs: number;
}

export const providerCacheOptions: CacheOptions = {
  markedTokensMin: 1_024,
  automaticStepTokens: 128,
  automaticTokensMin: 1_024,
  automaticLifeMs: 600_000,
};

/** Every token counts, so that a test sees every byte that was lost. */
export const exactCacheOptions: CacheOptions = {
  markedTokensMin: 0,
  automaticStepTokens: 1,
  automaticTokensMin: 0,
  automaticLifeMs: 600_000,
};

export interface CacheFigures extends CacheUse {
  readonly input: number;
  readonly possible: number;
  readonly before: number;
}

/** Whose request it is: caches are apart by key and model, conversations by what they begin with. */
export interface CacheScope {
  readonly keyId: string;
  readonly model: string;
  readonly protocol: string;
  readonly conversation: string;
}

export class PromptCache {
  readonly #options: CacheOptions;
  readonly #marks: MarkCache;
  readonly #automatic = new PromptHistory();
  readonly #conversations = new PromptHistory();

  constructor(options: CacheOptions) {
    this.#options = options;
    this.#marks = new MarkCache(options.markedTokensMin);
  }

  use(scope: CacheScope, prompt: Prompt, now: number): CacheFigures {
    const input = inputTokens(prompt);
    const owner = JSON.stringify([scope.keyId, scope.model, scope.protocol]);
    const use =
      prompt.caching === 'marks'
        ? this.#marks.use(owner, prompt, now)
        : { cached: this.#useAutomatic(`${owner} ${prompt.cacheKey}`, prompt, now), written5m: 0, written1h: 0 };
    const { possible, before } = this.#atBest(scope, prompt, now);
    return { input, ...use, possible: Math.max(use.cached, possible), before };
  }

  #useAutomatic(group: string, prompt: Prompt, now: number): number {
    const since = now - this.#options.automaticLifeMs;
    const cached = this.#whole(this.#automatic.commonBytes(group, prompt.units, false, since));
    this.#automatic.add(group, prompt.units, now);
    return cached;
  }

  #atBest({ model, protocol, conversation }: CacheScope, prompt: Prompt, now: number) {
    const group = JSON.stringify([model, protocol, conversation]);
    const isMarked = prompt.caching === 'marks';
    const bytes = this.#conversations.commonBytes(group, prompt.units, isMarked, 0);
    const bytesBefore = this.#conversations.newestBytes(group);
    this.#conversations.add(group, prompt.units, now);
    const counted = (count: number) => (isMarked ? this.#marked(count) : this.#whole(count));
    return { possible: counted(bytes), before: counted(bytesBefore) };
  }

  #marked(bytes: number): number {
    const tokens = sharedTokens(bytes);
    return tokens < this.#options.markedTokensMin ? 0 : tokens;
  }

  #whole(bytes: number): number {
    const { automaticStepTokens: step, automaticTokensMin: least } = this.#options;
    const tokens = Math.floor(sharedTokens(bytes) / step) * step;
    return tokens < least ? 0 : tokens;
  }
}

export function inputTokens({ units }: Prompt): number {
  return tokensOfBytes(units.reduce((bytes, { text }) => bytes + Buffer.byteLength(text), 0));
}
