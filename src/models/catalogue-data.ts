/**
 * What providers say of their models: plain data, as of the date below. Prices are list prices in dollars for a million
 * tokens; where the provider's price depends on the hour or rises at a known date, the higher one stands here and the
 * comment says so. What is not known is left out or null, never 0.
 */
import type { Price } from './model.ts';
import type { ChatCompletionsQuirk } from './protocols/chat-completions/quirks.ts';

export const cataloguedOn = '2026-11-15';

export interface CatalogueRow {
  /** The first is the usual one; the others are names for exactly the same. */
  readonly names: readonly string[];
  readonly contextLength: number | null;
  readonly outputTokensMax: number | null;
  readonly reasons: boolean;
  readonly seesImages: boolean;
  readonly price: Price | null;
  /** For calls that read more than so many tokens. */
  readonly longPrice: { readonly above: number; readonly price: Price } | null;
  readonly quirks: readonly ChatCompletionsQuirk[];
}

interface Facts {
  readonly context?: number;
  readonly output?: number;
  /** What it can do besides reading and writing text. */
  readonly can?: 'think' | 'see' | 'think see';
  readonly price?: Price;
  readonly longPrice?: CatalogueRow['longPrice'];
  readonly quirks?: readonly ChatCompletionsQuirk[];
}

function row(names: string, facts: Facts): CatalogueRow {
  return {
    names: names.split(' '),
    contextLength: facts.context ?? null,
    outputTokensMax: facts.output ?? null,
    reasons: facts.can?.startsWith('think') ?? false,
    seesImages: facts.can?.endsWith('see') ?? false,
    price: facts.price ?? null,
    longPrice: facts.longPrice ?? null,
    quirks: facts.quirks ?? [],
  };
}

/** Where writing to the cache costs nothing of its own, it costs what reading does. */
function usd(
  input: number,
  cachedInput: number,
  output: number,
  cacheWrite = input,
  cacheWriteLong = cacheWrite,
): Price {
  const exact = (dollars: number) => Number(dollars.toFixed(6));
  return {
    input: exact(input),
    cachedInput: exact(cachedInput),
    cacheWrite: exact(cacheWrite),
    cacheWriteLong: exact(cacheWriteLong),
    output: exact(output),
  };
}

/** Writing to the cache costs 1.25 times the input for five minutes, twice as much for an hour. */
const claude = (input: number, cached: number, output: number) => usd(input, cached, output, input * 1.25, input * 2);

const million = { context: 1_000_000, output: 128_000, can: 'think see' } as const;
const claude45 = { context: 200_000, output: 64_000, can: 'think see' } as const;

const anthropic = [
  row('claude-fable-5-2', { ...million, price: claude(8, 0.2, 40) }),
  row('claude-fable-5-1 claude-mythos-5-1', { ...million, price: claude(10, 0.25, 50) }),
  row('claude-fable-5 claude-mythos-5', { ...million, price: claude(10, 1, 50) }),
  row('claude-opus-5-5', { ...million, price: claude(4, 0.2, 20) }),
  row('claude-opus-5', { ...million, price: claude(5, 0.5, 25) }),
  row('claude-opus-4-8', { ...million, price: claude(5, 0.5, 25) }),
  row('claude-opus-4-7', { ...million, price: claude(5, 0.5, 25) }),
  row('claude-opus-4-6', { ...million, price: claude(5, 0.5, 25) }),
  row('claude-opus-4-5', { ...claude45, price: claude(5, 0.5, 25) }),
  row('claude-opus-4-1', { ...claude45, output: 32_000, price: claude(15, 1.5, 75) }),
  row('claude-sonnet-5-5', { ...million, price: claude(2, 0.1, 10) }),
  row('claude-sonnet-5', { ...million, price: claude(2, 0.2, 10) }),
  row('claude-sonnet-4-6', { ...million, output: 64_000, price: claude(3, 0.3, 15) }),
  row('claude-sonnet-4-5', { ...claude45, price: claude(3, 0.3, 15) }),
  row('claude-sonnet-4 claude-sonnet-4-0', { ...claude45, price: claude(3, 0.3, 15) }),
  row('claude-haiku-5-5', {
    ...million,
    price: claude(0.1, 0.01, 0.5),
    longPrice: { above: 100_000, price: claude(0.5, 0.05, 2.5) },
  }),
  row('claude-haiku-4-5', { ...claude45, price: claude(1, 0.1, 5) }),
];

/** Writing to the cache costs 1.25 times the input for half an hour, twice that for twelve hours. */
const gpt = (input: number, cached: number, output: number) => usd(input, cached, output, input * 1.25, input * 2.5);
/** Above 272,000 tokens everything read costs twice, everything written one and a half times as much. */
const gptLong = ({ input, cachedInput, output, cacheWrite, cacheWriteLong }: Price) => ({
  above: 272_000,
  price: usd(input * 2, cachedInput * 2, output * 1.5, cacheWrite * 2, cacheWriteLong * 2),
});
const tiered = (price: Price) => ({ price, longPrice: gptLong(price) });

const openaiMillion = { context: 1_050_000, output: 128_000, can: 'think see' } as const;
const gpt5 = { context: 400_000, output: 128_000, can: 'think see' } as const;
const noneToMax = ['effort-none', 'effort-xhigh'] as const;
const lowToMax = ['effort-xhigh'] as const;

const openai = [
  row('gpt-6-astra', { ...openaiMillion, ...tiered(gpt(10, 1, 50)), quirks: lowToMax }),
  row('gpt-6.1-sol', { ...openaiMillion, ...tiered(gpt(2, 0.1, 10)), quirks: lowToMax }),
  row('gpt-6.1-terra', { ...openaiMillion, ...tiered(gpt(1, 0.05, 5)), quirks: noneToMax }),
  row('gpt-6-sol', { ...openaiMillion, ...tiered(gpt(2, 0.2, 10)), quirks: noneToMax }),
  row('gpt-6-luna', { ...openaiMillion, ...tiered(gpt(0.1, 0.01, 0.5)), quirks: noneToMax }),
  // Reduced to 4 and 20 for the time being.
  row('gpt-5.6-sol gpt-5.6', { ...openaiMillion, ...tiered(gpt(5, 0.5, 30)), quirks: noneToMax }),
  row('gpt-5.6-terra', { ...openaiMillion, ...tiered(gpt(2, 0.2, 12)), quirks: noneToMax }),
  row('gpt-5.6-luna', { ...openaiMillion, ...tiered(gpt(0.2, 0.02, 1.2)), quirks: noneToMax }),
  row('gpt-5.5', { ...openaiMillion, ...tiered(usd(5, 0.5, 30)), quirks: noneToMax }),
  row('gpt-5.4', { ...openaiMillion, ...tiered(usd(2.5, 0.25, 15)), quirks: noneToMax }),
  row('gpt-5.4-mini', { ...gpt5, price: usd(0.75, 0.075, 4.5), quirks: noneToMax }),
  row('gpt-5.4-nano', { ...gpt5, price: usd(0.2, 0.02, 1.25), quirks: noneToMax }),
  row('gpt-5.2 gpt-5.3-codex gpt-5.2-codex', { ...gpt5, price: usd(1.75, 0.175, 14), quirks: noneToMax }),
  row('gpt-5.1 gpt-5.1-codex', { ...gpt5, price: usd(1.25, 0.125, 10), quirks: ['effort-none'] }),
  row('gpt-5', { ...gpt5, price: usd(1.25, 0.125, 10), quirks: ['effort-minimal'] }),
  row('gpt-5-mini', { ...gpt5, price: usd(0.25, 0.025, 2), quirks: ['effort-minimal'] }),
  row('gpt-5-nano', { ...gpt5, price: usd(0.05, 0.005, 0.4), quirks: ['effort-minimal'] }),
  row('gpt-4.1', { context: 1_047_576, output: 32_768, can: 'see', price: usd(2, 0.5, 8) }),
  row('gpt-4.1-mini', { context: 1_047_576, output: 32_768, can: 'see', price: usd(0.4, 0.1, 1.6) }),
  row('gpt-4o', { context: 128_000, output: 16_384, can: 'see', price: usd(2.5, 1.25, 10) }),
  row('gpt-4o-mini', { context: 128_000, output: 16_384, can: 'see', price: usd(0.15, 0.075, 0.6) }),
  row('o3', { context: 200_000, output: 100_000, can: 'think see', price: usd(2, 0.5, 8) }),
  row('o4-mini', { context: 200_000, output: 100_000, can: 'think see', price: usd(1.1, 0.275, 4.4) }),
];

const gemini = { context: 1_048_576, output: 65_536, can: 'think see' } as const;

const google = [
  // Half of it until 2026-11-30.
  row('gemini-4-argon', { ...gemini, price: usd(4, 0.2, 20) }),
  // Half of it until 2026-12-31.
  row('gemini-3.8-flash', { ...gemini, price: usd(1.5, 0.15, 7.5) }),
  row('gemini-3.7-flash', { ...gemini, price: usd(1.5, 0.15, 7.5) }),
  row('gemini-3.5-flash', { ...gemini, price: usd(1.5, 0.15, 9), quirks: ['effort-minimal'] }),
  row('gemini-3.1-pro-preview', {
    ...gemini,
    price: usd(2, 0.2, 12),
    longPrice: { above: 200_000, price: usd(4, 0.4, 18) },
  }),
  row('gemini-3.1-flash-lite', { ...gemini, price: usd(0.25, 0.025, 1.5), quirks: ['effort-minimal'] }),
  row('gemini-3-flash-preview', { ...gemini, price: usd(0.5, 0.05, 3), quirks: ['effort-minimal'] }),
  row('gemini-2.5-pro', {
    ...gemini,
    price: usd(1.25, 0.125, 10),
    longPrice: { above: 200_000, price: usd(2.5, 0.25, 15) },
  }),
  row('gemini-2.5-flash', { ...gemini, price: usd(0.3, 0.03, 2.5), quirks: ['effort-none', 'effort-minimal'] }),
];

// The prices of busy hours (mornings and early afternoons in China, Monday to Friday); at others it is half.
const deepseek = [
  row('deepseek-flash deepseek-v4.1-flash deepseek-v4-flash', {
    context: 1_000_000,
    output: 384_000,
    can: 'think see',
    price: usd(0.3, 0.006, 1.2),
  }),
  row('deepseek-v4-pro', { context: 1_000_000, output: 384_000, can: 'think', price: usd(1.32, 0.044, 3.96) }),
];

const grok = {
  context: 500_000,
  can: 'think see',
  price: usd(2, 0.5, 6),
  longPrice: { above: 200_000, price: usd(4, 1, 12) },
} as const;

const xai = [
  row('grok-4.7', { ...grok, quirks: ['effort-xhigh'] }),
  row('grok-4.6', grok),
  row('grok-4.5', grok),
  row('grok-4.3', {
    context: 1_000_000,
    can: 'think see',
    price: usd(1.25, 0.2, 2.5),
    longPrice: { above: 200_000, price: usd(2.5, 0.4, 5) },
  }),
];

const zai = [
  row('glm-5.3', { context: 1_000_000, output: 131_072, can: 'think', price: usd(1.4, 0.26, 4.4) }),
  row('glm-5.2', { context: 200_000, output: 131_072, can: 'think', price: usd(1.4, 0.26, 4.4) }),
  row('glm-5.1', { context: 200_000, output: 128_000, can: 'think' }),
  row('glm-5', { context: 200_000, output: 128_000, can: 'think', price: usd(1, 0.2, 3.2) }),
  row('glm-5v-turbo', { context: 200_000, output: 128_000, can: 'think see' }),
  row('glm-4.7', { context: 200_000, output: 128_000, can: 'think' }),
];

const moonshot = [
  row('kimi-k3.1-pro', { context: 1_000_000, can: 'think see', price: usd(2, 0.2, 10), quirks: ['reasoning-effort'] }),
  row('kimi-k3.1-pro-highspeed', {
    context: 1_000_000,
    can: 'think see',
    price: usd(4, 0.2, 20),
    quirks: ['reasoning-effort'],
  }),
  row('kimi-k3', {
    context: 1_048_576,
    output: 131_072,
    can: 'think see',
    price: usd(3, 0.3, 15),
    quirks: ['reasoning-effort'],
  }),
  row('kimi-k2.6', {
    context: 262_144,
    output: 262_144,
    can: 'think see',
    price: usd(0.95, 0.16, 4),
    quirks: ['thinking-switch'],
  }),
];

const mistral = [
  row('mistral-large-4 mistral-large-4-0', {
    context: 524_288,
    output: 262_144,
    can: 'think see',
    price: usd(1.36, 0.14, 4.18),
  }),
  // What is read from the cache may cost less; the price of that is not known.
  row('mistral-medium-3-5 mistral-medium-latest mistral-medium-3', {
    context: 256_000,
    can: 'think see',
    price: usd(1.5, 1.5, 7.5),
  }),
];

const groq = [
  row('gpt-oss-120b', {
    context: 131_072,
    output: 65_536,
    can: 'think',
    price: usd(0.15, 0.075, 0.6),
    quirks: ['reasoning-effort'],
  }),
  row('gpt-oss-20b', {
    context: 131_072,
    output: 65_536,
    can: 'think',
    price: usd(0.075, 0.0375, 0.3),
    quirks: ['reasoning-effort'],
  }),
  row('llama-3.3-70b-versatile', { context: 131_072, output: 32_768, price: usd(0.59, 0.59, 0.79) }),
  row('llama-3.1-8b-instant', { context: 131_072, price: usd(0.05, 0.05, 0.08) }),
];

const nous = [
  row('hermes-4-405b', { context: 131_072, can: 'think' }),
  row('hermes-4-70b', { context: 131_072, can: 'think' }),
];

/** By the provider whose own models they are, or, of open models, the one that serves them at this price. */
export const catalogue: Readonly<Record<string, readonly CatalogueRow[]>> = {
  anthropic,
  openai,
  google,
  deepseek,
  xai,
  zai,
  moonshot,
  mistral,
  groq,
  nous,
};
