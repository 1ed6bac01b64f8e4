/**
 * Whose model answers when nobody said: the first provider whose key is in the environment, else an Ollama that can be
 * reached and has a model, else the model inside the program. Never throws.
 */
import { systemClock, type Clock } from '../lib/clock.ts';
import { ollamaAddress } from './base-url.ts';
import { exchangeJson, isRecord, recordsAt } from './json-exchange.ts';
import { keyInEnvironment, providerRows } from './providers.ts';

export interface FoundProvider {
  readonly provider: string;
  /** Null: the provider's usual model. */
  readonly name: string | null;
  /** Null: the provider's own. */
  readonly baseUrl: string | null;
  /** Null: what is known of the model. */
  readonly contextLength: number | null;
}

/** The model inside the program. */
export const nothingFound: FoundProvider = { provider: 'offline', name: null, baseUrl: null, contextLength: null };

export interface OllamaModel {
  readonly name: string;
  /** What the server is likely to read at once; null if it doesn't say. */
  readonly contextLength: number | null;
}

/** Asks the Ollama at an address (as `http://127.0.0.1:11434`) which of its models to use; null if there is none. */
export type ProbeOllama = (address: string, signal: AbortSignal) => Promise<OllamaModel | null>;

/** Whose key counts if there are several. */
const order = [
  'anthropic',
  'openai',
  'openrouter',
  'google',
  'deepseek',
  'xai',
  'mistral',
  'groq',
  'moonshot',
  'zai',
  'nous',
] as const;

export async function findProvider(
  environment: Readonly<Record<string, string | undefined>>,
  probeOllama: ProbeOllama = createOllamaProbe({ clock: systemClock }),
  signal: AbortSignal = new AbortController().signal,
): Promise<FoundProvider> {
  const provider = order.find((name) => keyInEnvironment(providerRows[name], environment) !== null);
  if (provider !== undefined) return { ...nothingFound, provider };
  const address = ollamaAddress(environment);
  const model = await probeOllama(address, signal);
  if (model === null) return nothingFound;
  const said = Number(environment['OLLAMA_CONTEXT_LENGTH']);
  const limit = Number.isInteger(said) && said > 0 ? said : null;
  return {
    provider: 'ollama',
    name: model.name,
    baseUrl: `${address}/v1`,
    contextLength: limit ?? model.contextLength,
  };
}

/** On the same machine an answer takes a few milliseconds; a start of the program must not wait longer for a guess. */
const probeTimeoutMs = 300;
/** How many models are looked at for one that calls tools; they come with the newest first. */
const lookedAtMax = 8;
/** What Ollama reads at once is set by the server, not by the model, and is rarely more. */
const contextCareful = 32_768;

export function createOllamaProbe({ clock }: { readonly clock: Clock }): ProbeOllama {
  const ask = async (url: string, body: unknown, signal: AbortSignal): Promise<unknown> => {
    const answer = await exchangeJson({ clock }, { url, body, timeoutMs: probeTimeoutMs }, signal);
    return answer.kind === 'answered' && answer.status === 200 ? answer.json : undefined;
  };
  return async (address, signal) => {
    const tags = recordsAt(await ask(`${address}/api/tags`, undefined, signal), 'models');
    const names = tags
      .flatMap(({ name }) => (typeof name === 'string' && name !== '' && !/embed/i.test(name) ? [name] : []))
      .slice(0, lookedAtMax);
    const models = await Promise.all(
      names.map(async (name) => factsOf(name, await ask(`${address}/api/show`, { model: name }, signal))),
    );
    const chosen = models.find((model) => model.callsTools) ?? models[0];
    return chosen === undefined ? null : { name: chosen.name, contextLength: chosen.contextLength };
  };
}

function factsOf(name: string, shown: unknown): OllamaModel & { readonly callsTools: boolean } {
  if (!isRecord(shown)) return { name, contextLength: null, callsTools: false };
  const { capabilities, parameters, model_info: info } = shown;
  const longest = Object.entries(isRecord(info) ? info : {}).find(([field]) => field.endsWith('.context_length'))?.[1];
  const set = /^num_ctx\s+(\d+)\s*$/m.exec(typeof parameters === 'string' ? parameters : '')?.[1];
  const careful = set === undefined ? contextCareful : Number(set);
  return {
    name,
    contextLength: typeof longest === 'number' && longest > 0 ? Math.min(longest, careful) : careful,
    callsTools: Array.isArray(capabilities) && capabilities.includes('tools'),
  };
}
