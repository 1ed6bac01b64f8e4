/**
 * From what is configured to the one value that says everything about calling a model. Pure, never throws: what is
 * missing is filled in from the provider's row and the catalogue, what is unknown carefully. A key that a provider needs
 * and nobody has given is empty here; saying so is left to who opens the client.
 */
import { baseUrlFor, isAggregator, isLocal, ollamaAddress } from './base-url.ts';
import { findModel, type KnownModel } from './catalogue.ts';
import type { ApiKey, ApiMode, Price, Runtime } from './model.ts';
import { offlineNames, offlineRuntime } from './offline/offline-runtime.ts';
import type { ChatCompletionsQuirk } from './protocols/chat-completions/quirks.ts';
import { keyInEnvironment, providerRow, type ProviderRow } from './providers.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** What is configured; null stands for what is usual. */
export interface RuntimeSpec {
  readonly provider: string;
  readonly name: string | null;
  readonly baseUrl: string | null;
  readonly apiMode: ApiMode | null;
  readonly apiKeys: readonly string[];
  readonly contextLength: number | null;
  readonly outputTokensMax: number | null;
  readonly stallMs: number | null;
  /** What is left out is as known of the model. */
  readonly price: Partial<Price> | null;
  readonly compressor: Runtime['compressor'];
}

const stallDefaultMs = 180_000;
/** A model that thinks, or one that reads a long prompt on a small machine, is silent for minutes. */
const stallOfSlowMs = 600_000;
const contextUnknown = 128_000;
/** Local servers are started with far less than the model could read, and cut what is longer without a word. */
const contextUnknownLocal = 32_000;
const outputUnknown = 8_192;
const outputUsual = 32_000;
/** Thoughts count as output. */
const outputUsualThinking = 64_000;

const free: Price = { input: 0, cachedInput: 0, cacheWrite: 0, cacheWriteLong: 0, output: 0 };

export function buildRuntime(spec: RuntimeSpec, environment: Environment): Runtime {
  if (spec.provider === 'offline') return offline(spec);
  const row = providerRow(spec.provider);
  const apiMode = spec.apiMode ?? row.apiMode;
  const model = spec.name?.trim() ?? row.usualModel ?? '';
  const baseUrl = baseUrlFor(row, apiMode, spec.baseUrl ?? usualAddress(spec.provider, environment));
  const reach = reachOf(row, spec.provider, baseUrl);
  const known = row.reach === 'local' ? null : findModel(spec.provider, model);
  const reasons = known?.reasons ?? false;
  const contextLength =
    spec.contextLength ?? known?.contextLength ?? (reach === 'local' ? contextUnknownLocal : contextUnknown);
  return {
    provider: spec.provider,
    model,
    baseUrl,
    apiMode,
    keys: keysOf(spec, row, apiMode, environment),
    contextLength,
    outputTokensMax: spec.outputTokensMax ?? outputTokensMax(known, contextLength),
    caching: cachingOf(apiMode, reach, model),
    reach,
    stallMs: spec.stallMs ?? (reasons || reach === 'local' ? stallOfSlowMs : stallDefaultMs),
    price: priceOf(spec, row.reach === 'local' ? free : knownPrice(known)),
    seesImages: known?.seesImages ?? false,
    reasons,
    quirks: quirksOf(row, spec.provider, apiMode, known),
    compressor: spec.compressor,
  };
}

function offline(spec: RuntimeSpec): Runtime {
  const base = offlineRuntime(offlineNames.find((name) => name === spec.name) ?? 'rehearsal');
  return {
    ...base,
    contextLength: spec.contextLength ?? base.contextLength,
    outputTokensMax: spec.outputTokensMax ?? base.outputTokensMax,
    stallMs: spec.stallMs ?? base.stallMs,
    price: priceOf(spec, base.price),
    compressor: spec.compressor,
  };
}

function usualAddress(provider: string, environment: Environment): string | null {
  return provider === 'ollama' ? ollamaAddress(environment) : null;
}

/** An aggregator is one under any name; only who names no provider is judged local by the address. */
function reachOf(row: ProviderRow, provider: string, baseUrl: string): Runtime['reach'] {
  if (row.reach === 'aggregator' || isAggregator(baseUrl)) return 'aggregator';
  return provider === 'custom' && isLocal(baseUrl) ? 'local' : row.reach;
}

function keysOf(spec: RuntimeSpec, row: ProviderRow, apiMode: ApiMode, environment: Environment): Runtime['keys'] {
  const given = spec.apiKeys.map((secret) => secret.trim()).filter((secret) => secret !== '');
  const found = given.length > 0 ? given : [keyInEnvironment(row, environment) ?? ''];
  const [first = '', ...others] = new Set(found);
  const key = (secret: string): ApiKey => ({
    id: fingerprint(secret),
    secret,
    ...(apiMode === 'anthropic_messages' ? { oauth: secret.startsWith('sk-ant-oat') } : {}),
  });
  return [key(first), ...others.map(key)];
}

/** Of the whole secret: keys of one house, and all JSON web tokens, begin alike. */
function fingerprint(secret: string): string {
  if (secret === '') return '';
  const { createHash } = process.getBuiltinModule('node:crypto');
  return createHash('sha256').update(secret).digest('hex').slice(0, 16);
}

function outputTokensMax(known: KnownModel | null, contextLength: number): number {
  const usual = known?.reasons === true ? outputUsualThinking : outputUsual;
  const possible = known === null ? outputUnknown : (known.outputTokensMax ?? usual);
  return Math.max(1, Math.min(possible, usual, Math.floor(contextLength / 4)));
}

function cachingOf(apiMode: ApiMode, reach: Runtime['reach'], model: string): Runtime['caching'] {
  // On a local address too: a server that knows no marks ignores them, and a proxy in front of one that does needs them.
  if (apiMode === 'anthropic_messages') return 'breakpoints';
  if (reach === 'local') return 'automatic';
  return reach === 'aggregator' && /^~?anthropic\//i.test(model) ? 'breakpoints' : 'automatic';
}

function knownPrice(known: KnownModel | null): Price | null {
  if (known === null || known.price === null || known.longPrice === null) return known?.price ?? null;
  const { above, price } = known.longPrice;
  return { ...known.price, above: { inputTokens: above, price } };
}

function priceOf({ price }: RuntimeSpec, known: Price | null): Price | null {
  const said = Object.fromEntries(Object.entries(price ?? {}).filter(([, dollars]) => typeof dollars === 'number'));
  const { input, output, ...others }: Partial<Price> = { ...known, ...said };
  // Without these two there is no price at all; the others have a careful substitute.
  if (input === undefined || output === undefined) return null;
  const { cachedInput = input, cacheWrite = input, cacheWriteLong = cacheWrite } = others;
  // Who names a price of their own means it for every prompt.
  const above = price === null ? known?.above : undefined;
  return { input, cachedInput, cacheWrite, cacheWriteLong, output, ...(above === undefined ? {} : { above }) };
}

const aboutThinking: ReadonlySet<string> = new Set<ChatCompletionsQuirk>([
  'developer-role',
  'reasoning-effort',
  'reasoning-object',
  'thinking-switch',
  'effort-none',
  'effort-minimal',
  'effort-xhigh',
  'reasoning-content-back',
  'reasoning-details-back',
]);

function quirksOf(row: ProviderRow, provider: string, apiMode: ApiMode, known: KnownModel | null): readonly string[] {
  const ofProvider = apiMode === 'chat_completions' ? row.quirks : [];
  // How hard a model can be made to think is sent as the house that serves it wants it.
  const ofModel = row.reach === 'direct' && provider !== 'custom' ? (known?.quirks ?? []) : [];
  const quirks = [...new Set([...ofProvider, ...ofModel])];
  return known?.reasons === true ? quirks : quirks.filter((quirk) => !aboutThinking.has(quirk));
}
