/** The names of the models that an API offers, for people to choose from, and the cheapest way to check a key. */
import type { Clock } from '../lib/clock.ts';
import { explainFailure } from './errors/explain-failure.ts';
import { exchangeJson, recordsAt, type JsonAnswer } from './json-exchange.ts';
import { ModelError, type ApiKey, type Runtime } from './model.ts';
import { offlineNames } from './offline/offline-runtime.ts';
import { anthropicMessages } from './protocols/anthropic-messages/anthropic-messages.ts';
import { providerRow } from './providers.ts';

const listTimeoutMs = 15_000;
const namesMax = 5_000;

/** In alphabetical order. Throws a `ModelError`. */
export async function listModels(
  { clock }: { readonly clock: Clock },
  runtime: Runtime,
  key: ApiKey,
  signal: AbortSignal,
): Promise<readonly string[]> {
  if (runtime.apiMode === 'offline') return offlineNames;
  const { url, headers } = questionFor(runtime, key);
  const answer = await exchangeJson({ clock }, { url, headers, timeoutMs: listTimeoutMs }, signal);
  if (answer.kind !== 'answered') throw unreached(runtime, answer);
  if (answer.status !== 200) {
    const failure = { status: answer.status, headers: {}, body: answer.body };
    throw explainFailure(failure, { provider: runtime.provider, secret: key.secret, now: clock.now() });
  }
  const names = namesIn(answer.json);
  if (names === null) {
    const message = `${labelOf(runtime)} answered at ${url} with something else than a list of models. Check model.base_url.`;
    throw new ModelError('malformed-stream', message, { retryable: false });
  }
  return names;
}

function questionFor(runtime: Runtime, key: ApiKey): { url: string; headers: Readonly<Record<string, string>> } {
  const { baseUrl } = runtime;
  if (runtime.apiMode === 'anthropic_messages' && runtime.provider !== 'ollama') {
    return { url: `${baseUrl}/v1/models?limit=1000`, headers: anthropicMessages.headers(runtime, key) };
  }
  const headers: Readonly<Record<string, string>> = key.secret === '' ? {} : { authorization: `Bearer ${key.secret}` };
  if (runtime.provider === 'ollama') return { url: `${baseUrl.replace(/\/v1$/, '')}/api/tags`, headers };
  return { url: `${baseUrl}/models`, headers };
}

/** OpenAI and Anthropic list them in `data`, Ollama and Codex in `models`; some hang Google's `models/` before a name. */
function namesIn(json: unknown): string[] | null {
  const isList = Array.isArray(json);
  const data = isList ? recordsAt({ data: json }, 'data') : recordsAt(json, 'data');
  const rows = [...data, ...recordsAt(json, 'models')];
  const names = rows.flatMap((row) => {
    const name = row['id'] ?? row['slug'] ?? row['name'];
    return typeof name === 'string' && name !== '' ? [name.replace(/^models\//, '')] : [];
  });
  const isKnownShape = isList || (typeof json === 'object' && json !== null && ('data' in json || 'models' in json));
  return isKnownShape ? [...new Set(names)].toSorted().slice(0, namesMax) : null;
}

function unreached(runtime: Runtime, answer: Exclude<JsonAnswer, { kind: 'answered' }>): ModelError {
  const label = labelOf(runtime);
  switch (answer.kind) {
    case 'cancelled':
      return new ModelError('cancelled', 'Asking for the list of models was stopped.');
    case 'timeout': {
      const message = `${label} did not answer at ${runtime.baseUrl} within ${listTimeoutMs / 1_000} seconds.`;
      return new ModelError('timeout', message, { transport: 'read-timeout' });
    }
    case 'failed': {
      const message = `${label} can't be reached at ${runtime.baseUrl} (${answer.code}). Check model.base_url and the network.`;
      return new ModelError('connection', message, { transport: 'connect-error' });
    }
  }
}

function labelOf(runtime: Runtime): string {
  return providerRow(runtime.provider).label;
}
