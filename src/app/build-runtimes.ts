/** The runtimes that an agent's inputs mean: the primary, those that take over from it, and those for side jobs. */
import type { AgentInputs, ModelInputs } from '../agent/agent-inputs.ts';
import { buildRuntime, type RuntimeSpec } from '../models/build-runtime.ts';
import type { FoundProvider } from '../models/find-provider.ts';
import type { Runtime } from '../models/model.ts';

export type Environment = Readonly<Record<string, string | undefined>>;
export type RuntimeInputs = Pick<
  AgentInputs,
  | `model.${keyof ModelInputs}`
  | 'fallback'
  | `auxiliary.${'compression' | 'title' | 'approval' | 'vision'}`
  | 'compression.enabled'
  | 'compression.threshold'
>;

export interface Runtimes {
  readonly chain: readonly [Runtime, ...Runtime[]];
  /** Null where the main model does it. */
  readonly title: Runtime | null;
  /** The one that judges what would be asked; null if none was chosen for it. */
  readonly approval: Runtime | null;
  /** The one that writes summaries of long conversations; null where the main model does it. */
  readonly compression: Runtime | null;
  /** The one that looks at pictures for models that can't see; null if none was chosen for it. */
  readonly vision: Runtime | null;
}

/** `found` is what answers where no provider is configured. */
export function buildRuntimes(inputs: RuntimeInputs, found: FoundProvider, environment: Environment): Runtimes {
  const main = mainModel(inputs, found);
  const build = (model: ModelInputs): Runtime => {
    const plain = buildRuntime(specOf(model, null), environment);
    return { ...plain, compressor: compressorOf(inputs, main, plain, environment) };
  };
  const fallbacks = (inputs.fallback ?? []).map((entry) => build(inherited(entry, main)));
  const aside = (job: 'title' | 'approval' | 'compression' | 'vision') => {
    const chosen = inputs[`auxiliary.${job}`];
    return chosen === null ? null : build(inherited(chosen, main));
  };
  const seer = aside('vision');
  return {
    chain: [build(main), ...fallbacks],
    title: aside('title'),
    approval: aside('approval'),
    compression: aside('compression'),
    // Whoever chose it knows that it sees, though no list may know the model.
    vision: seer === null ? null : { ...seer, seesImages: true },
  };
}

function mainModel(inputs: RuntimeInputs, found: FoundProvider): ModelInputs {
  const model: ModelInputs = {
    provider: inputs['model.provider'],
    name: inputs['model.name'],
    base_url: inputs['model.base_url'],
    api_mode: inputs['model.api_mode'],
    api_key: inputs['model.api_key'],
    context_length: inputs['model.context_length'],
    max_output_tokens: inputs['model.max_output_tokens'],
    stall_timeout_s: inputs['model.stall_timeout_s'],
    price: inputs['model.price'],
  };
  if (model.provider !== null) return model;
  return {
    ...model,
    provider: found.provider,
    name: model.name ?? found.name,
    base_url: model.base_url ?? found.baseUrl,
    context_length: model.context_length ?? found.contextLength,
  };
}

/** What a model leaves open is as in the main one, as far as it is the same provider. */
function inherited(model: ModelInputs, main: ModelInputs): ModelInputs {
  const provider = model.provider ?? main.provider;
  if (provider !== main.provider) return model;
  const hasKeys = (model.api_key?.length ?? 0) > 0;
  return {
    ...model,
    provider,
    base_url: model.base_url ?? main.base_url,
    api_mode: model.api_mode ?? main.api_mode,
    api_key: hasKeys ? model.api_key : main.api_key,
  };
}

function specOf(model: ModelInputs, compressor: Runtime['compressor']): RuntimeSpec {
  const { price } = model;
  return {
    provider: model.provider ?? 'offline',
    name: model.name,
    baseUrl: model.base_url,
    apiMode: model.api_mode,
    apiKeys: model.api_key ?? [],
    contextLength: model.context_length,
    outputTokensMax: model.max_output_tokens,
    stallMs: model.stall_timeout_s === null ? null : model.stall_timeout_s * 1_000,
    price: price === null ? null : priceOf(price),
    compressor,
  };
}

function priceOf(price: NonNullable<ModelInputs['price']>): RuntimeSpec['price'] {
  const named = {
    input: price.input,
    cachedInput: price.cached_input,
    cacheWrite: price.cache_write,
    cacheWriteLong: price.cache_write_long,
    output: price.output,
  };
  return Object.fromEntries(Object.entries(named).filter(([, dollars]) => dollars !== null));
}

function compressorOf(
  inputs: RuntimeInputs,
  main: ModelInputs,
  led: Runtime,
  environment: Environment,
): Runtime['compressor'] {
  if (inputs['compression.enabled'] === false) return null;
  const own = inputs['auxiliary.compression'];
  const { provider, model, contextLength } =
    own === null ? led : buildRuntime(specOf(inherited(own, main), null), environment);
  const room = Math.max(0, led.contextLength - led.outputTokensMax);
  return {
    provider,
    model,
    contextLength,
    thresholdTokens: Math.floor(room * (inputs['compression.threshold'] ?? 0.5)),
  };
}
