/**
 * How hard a model should think, in the words of its generation. Older Claudes are given a budget of tokens, newer ones
 * decide by themselves and are told an effort; some think unless told otherwise, some can't be kept from it. Whoever
 * does not think is asked for nothing.
 */
import type { Effort } from '../../../protocol/usage.ts';
import type { Runtime } from '../../model.ts';

/** Members of a request's body; what is left out is the model's own choice. */
export interface ThinkingSetting {
  readonly thinking?: {
    readonly type: string;
    readonly budget_tokens?: number;
    readonly display?: string;
    readonly block_binding?: { readonly prefix_mismatch_behavior: string };
  };
  readonly output_config?: { readonly effort: string };
}

type ThinkingEffort = Exclude<Effort, 'none'>;

const budgets: Readonly<Record<ThinkingEffort, number>> = {
  minimal: 1_024,
  low: 4_096,
  medium: 10_240,
  high: 20_480,
  max: 32_768,
};
/** The API's own lower bound. */
const budgetMin = 1_024;
/** Thoughts and answer share the longest answer; this much of it may be thoughts. */
const budgetShareMax = 0.75;

const effortWords: Readonly<Record<ThinkingEffort, string>> = {
  minimal: 'low',
  low: 'low',
  medium: 'medium',
  high: 'high',
  max: 'max',
};

export function thinkingSetting(runtime: Runtime, effort: Effort | null): ThinkingSetting {
  if (!runtime.reasons) return {};
  const habit = thinkingHabit(runtime);
  if (effort === 'none') return habit.off;
  if (habit.kind === 'adaptive') {
    if (effort === null) return habit.byDefault ? { thinking: adaptive(runtime) } : {};
    return { thinking: adaptive(runtime), output_config: { effort: effortWords[effort] } };
  }
  const budget = effort === null ? 0 : budgetFor(runtime, effort);
  return budget < budgetMin ? {} : { thinking: { type: 'enabled', budget_tokens: budget } };
}

/** What is sent where thinking would be on and can't be: only ever needed for those with a budget. */
export function thinkingOff(runtime: Runtime): ThinkingSetting {
  return runtime.reasons ? thinkingHabit(runtime).off : {};
}

/** Between calls these think only if asked to by a header. */
export function wantsInterleavedHeader(runtime: Runtime): boolean {
  const claude = claudeVersion(runtime.model);
  return runtime.reasons && claude !== null && claude.version >= 400 && claude.version < 406;
}

/**
 * The newest models refuse thoughts whose prompt has changed since, as after another tool list, unless they are told to
 * pass them over. Only the maker's own API is known to understand that.
 */
export function wantsBindingHeader(runtime: Runtime): boolean {
  const claude = claudeVersion(runtime.model);
  if (!runtime.reasons || runtime.provider !== 'anthropic' || claude === null) return false;
  return claude.version >= (claude.name === 'fable' || claude.name === 'mythos' ? 501 : 505);
}

/** Without `display` the newer models keep their thoughts, and their words between calls, to themselves. */
function adaptive(runtime: Runtime): NonNullable<ThinkingSetting['thinking']> {
  const binding = { block_binding: { prefix_mismatch_behavior: 'drop_block' } };
  return { type: 'adaptive', display: 'summarized', ...(wantsBindingHeader(runtime) && binding) };
}

function budgetFor(runtime: Runtime, effort: ThinkingEffort): number {
  return Math.min(budgets[effort], Math.floor(runtime.outputTokensMax * budgetShareMax));
}

interface ThinkingHabit {
  readonly kind: 'budget' | 'adaptive';
  /** It thinks if nothing is said. */
  readonly byDefault: boolean;
  /** The least thinking that it can be brought to. */
  readonly off: ThinkingSetting;
}

function thinkingHabit(runtime: Runtime): ThinkingHabit {
  const least = { thinking: adaptive(runtime), output_config: { effort: 'low' } };
  const cannotStop: ThinkingHabit = { kind: 'adaptive', byDefault: true, off: least };
  const claude = claudeVersion(runtime.model);
  if (claude === null) {
    if (/claude-mythos/i.test(runtime.model)) return cannotStop;
    // Other makers' models behind this dialect take the older form, and most of them think unless told otherwise.
    return { kind: 'budget', byDefault: true, off: { thinking: { type: 'disabled' } } };
  }
  const { name, version } = claude;
  if (version < 406) return { kind: 'budget', byDefault: false, off: {} };
  if (version < 500) return { kind: 'adaptive', byDefault: false, off: {} };
  if (name === 'sonnet' && version >= 505) {
    return { kind: 'adaptive', byDefault: true, off: { thinking: { type: 'between_tools' } } };
  }
  const canStop = name === 'sonnet' || name === 'haiku' || (name === 'opus' && version < 505);
  return canStop ? { kind: 'adaptive', byDefault: true, off: { thinking: { type: 'disabled' } } } : cannotStop;
}

/** `claude-sonnet-4-5-20250929`, `anthropic/claude-opus-4.6`, `claude-3-7-sonnet-latest`; 405 is 4.5. */
function claudeVersion(model: string): { readonly name: string; readonly version: number } | null {
  const match =
    /claude-(?:(\d{1,2})(?:-(\d{1,2}))?-)?([a-z]+)(?:-(\d{1,2})(?!\d)(?:-(\d{1,2})(?!\d))?)?/.exec(
      model.toLowerCase().replaceAll('.', '-'),
    ) ?? [];
  const [, earlyMajor, earlyMinor, name, major = earlyMajor, minor = earlyMinor] = match;
  if (name === undefined || major === undefined) return null;
  return { name, version: Number(major) * 100 + Number(minor ?? 0) };
}
