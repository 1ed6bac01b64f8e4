/**
 * The models of a configuration as `talaria model` looks after them: which there are and what for, which one a person
 * means by a name, whether it answers, and what else its provider offers. Works on the configuration alone, so it needs
 * neither the home nor a gateway. No secret leaves it.
 */
import { readAgentInputs, type AgentInputs } from '../agent/agent-inputs.ts';
import type { Config } from '../config/schema.ts';
import type { Clock } from '../lib/clock.ts';
import { buildRuntime } from '../models/build-runtime.ts';
import { findProvider, nothingFound, type FoundProvider } from '../models/find-provider.ts';
import { listModels } from '../models/list-models.ts';
import type { Runtime } from '../models/model.ts';
import { providerRow } from '../models/providers.ts';
import { buildRuntimes, type Environment } from './build-runtimes.ts';
import { readModelChoice, type ModelChoice } from './model-choice.ts';
import { tryModel, type ModelTrial } from './try-model.ts';

export interface ModelAdminDeps {
  readonly config: Config;
  /** `.env` and the process's own variables together. */
  readonly environment: Environment;
  readonly clock: Clock;
}

const sideJobs = ['compression', 'title', 'approval', 'vision'] as const;
/** Without a model of their own nobody does these; the main model does the others. */
const ownModelJobs: ReadonlySet<string> = new Set(['title', 'vision']);
export type ModelRole = 'main' | 'fallback' | (typeof sideJobs)[number];

export interface ModelDescription {
  readonly role: ModelRole;
  readonly provider: string;
  /** Empty if it must be named and is not. */
  readonly name: string;
  readonly base_url: string;
  readonly api_mode: string;
  readonly context_length: number;
  /** Dollars for a million tokens; null if not known. */
  readonly price: { readonly input: number; readonly cached_input: number; readonly output: number } | null;
  /** Fingerprints; empty where none is needed or none is known. */
  readonly keys: readonly string[];
  /** `configured`: by name; `found`: nobody chose it; `main`: a side job that the main model does. */
  readonly origin: 'configured' | 'found' | 'main';
  /** What keeps it from answering, with what to do. */
  readonly problem: string | null;
}

/** A model that somebody means, ready to be tried. */
export interface ChosenModel {
  readonly description: ModelDescription;
  try(signal: AbortSignal): Promise<readonly ModelTrial[]>;
  names(signal: AbortSignal): Promise<readonly string[]>;
}

export interface ModelAdmin {
  describe(): readonly ModelDescription[];
  /** Null: the main model. Throws an `AppError` if it makes no sense. */
  choose(choice: ModelChoice | null): ChosenModel;
  /** What a person means who types this: `PROVIDER/NAME`, a provider, or a name of the provider in use. */
  read(typed: string): ModelChoice;
}

export async function openModelAdmin(deps: ModelAdminDeps): Promise<ModelAdmin> {
  const { config, environment } = deps;
  const isOpen = config.model.provider === null;
  const found = isOpen ? await findProvider(environment) : nothingFound;
  const inputs = readAgentInputs(config, { registryGeneration: () => 1, toolsets: config.toolsets });
  const models = configuredModels(inputs, found, environment);
  const [main] = models;
  const describe = ({ role, runtime, origin }: ConfiguredModel) => descriptionOf(role, runtime, origin);
  return {
    describe: () => models.map(describe),
    choose: (choice) => chosen(deps, choice === null ? main : meant(deps, models, choice)),
    read: (typed) => readModelChoice(typed, main.runtime.provider),
  };
}

interface ConfiguredModel {
  readonly role: ModelRole;
  readonly runtime: Runtime;
  readonly origin: ModelDescription['origin'];
}

function configuredModels(
  inputs: AgentInputs,
  found: FoundProvider,
  environment: Environment,
): readonly [ConfiguredModel, ...ConfiguredModel[]] {
  const [first, ...fallbacks] = buildRuntimes(inputs, found, environment).chain;
  const main: ConfiguredModel = {
    role: 'main',
    runtime: first,
    origin: inputs['model.provider'] === null ? 'found' : 'configured',
  };
  const sides = sideJobs.flatMap((role): ConfiguredModel[] => {
    const own = inputs[`auxiliary.${role}`];
    if (own === null && ownModelJobs.has(role)) return [];
    // A side job's model is filled up from the main one as a fallback is.
    const runtime =
      own === null ? undefined : buildRuntimes({ ...inputs, fallback: [own] }, found, environment).chain[1];
    return [{ role, runtime: runtime ?? first, origin: runtime === undefined ? 'main' : 'configured' }];
  });
  return [
    main,
    ...fallbacks.map((runtime) => ({ role: 'fallback', runtime, origin: 'configured' }) as const),
    ...sides,
  ];
}

/** The runtime of a choice: what is configured for the same provider counts, as far as the choice leaves it open. */
function meant(
  { environment }: ModelAdminDeps,
  models: readonly ConfiguredModel[],
  choice: ModelChoice,
): ConfiguredModel {
  const { provider, name, key, baseUrl } = choice;
  const ofProvider = models.filter(({ runtime }) => runtime.provider === provider);
  const known = ofProvider.find(({ runtime }) => name === null || runtime.model === name) ?? ofProvider[0];
  if (
    known !== undefined &&
    (name === null || known.runtime.model === name) &&
    key === undefined &&
    baseUrl === undefined
  ) {
    return known;
  }
  const runtime = buildRuntime(
    {
      provider,
      name: name ?? known?.runtime.model ?? null,
      baseUrl: baseUrl ?? known?.runtime.baseUrl ?? null,
      apiMode: known === undefined || known.runtime.apiMode === 'offline' ? null : known.runtime.apiMode,
      apiKeys: key === undefined ? (known?.runtime.keys.map(({ secret }) => secret) ?? []) : [key],
      contextLength: null,
      outputTokensMax: null,
      stallMs: null,
      price: null,
      compressor: null,
    },
    environment,
  );
  return { role: 'main', runtime, origin: 'configured' };
}

function chosen(deps: ModelAdminDeps, { role, runtime, origin }: ConfiguredModel): ChosenModel {
  return {
    description: descriptionOf(role, runtime, origin),
    try: (signal) => tryModel(deps, runtime, signal),
    names: (signal) => listModels(deps, runtime, runtime.keys[0], signal),
  };
}

function descriptionOf(role: ModelRole, runtime: Runtime, origin: ModelDescription['origin']): ModelDescription {
  const { provider, model, price } = runtime;
  return {
    role,
    provider,
    name: model,
    base_url: runtime.baseUrl,
    api_mode: runtime.apiMode,
    context_length: runtime.contextLength,
    price: price === null ? null : { input: price.input, cached_input: price.cachedInput, output: price.output },
    keys: runtime.keys.flatMap(({ id }) => (id === '' ? [] : [id])),
    origin,
    problem: problemOf(runtime),
  };
}

function problemOf({ provider, model, keys, baseUrl, apiMode }: Runtime): string | null {
  if (apiMode === 'offline') return null;
  if (baseUrl === '')
    return `no address is known for ${provider}; give one with: talaria config set model.base_url URL`;
  if (model === '') return `no model is named; see talaria model list ${provider}`;
  if (providerRow(provider).needsKey && keys[0].secret === '')
    return `no key is known; enter one with: talaria model set ${provider}`;
  return null;
}
