/**
 * Builds the client of a runtime: the model inside the program, or a protocol on a wire. Loads only what this runtime
 * needs, opens no connection, and says in a sentence why it can't be built.
 */
import type { Clock } from '../lib/clock.ts';
import { ModelError, type ApiMode, type Model, type OpenModel, type Runtime } from './model.ts';
import { offlineNames, type OfflineName } from './offline/offline-runtime.ts';
import type { Protocol } from './protocols/protocol.ts';
import { providerRow } from './providers.ts';

export interface OpenModelDeps {
  readonly clock: Clock;
  /** For the usual variables about proxies. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

export function createOpenModel({ clock, env }: OpenModelDeps): OpenModel {
  return async (runtime) => {
    if (runtime.apiMode === 'offline') return openOffline(runtime, clock);
    checkKey(runtime);
    const [protocol, { createNetworkModel }, { createHttpClient }] = await Promise.all([
      protocolFor(runtime.apiMode),
      import('./network-model.ts'),
      import('./transport/http-client.ts'),
    ]);
    const client = createHttpClient({ clock, env, stallMs: runtime.stallMs });
    return createNetworkModel({ runtime, protocol, client, clock });
  };
}

async function openOffline(runtime: Runtime, clock: Clock): Promise<Model> {
  const name = offlineNames.find((known) => known === runtime.model);
  if (name === undefined) throw unknownOffline(runtime.model, offlineNames);
  const { createOfflineModel } = await import('./offline/offline-model.ts');
  return createOfflineModel({ clock, name });
}

function unknownOffline(model: string, names: readonly OfflineName[]): ModelError {
  return new ModelError('model-not-found', `There is no offline model ${model}; there are ${names.join(' and ')}.`);
}

function checkKey({ provider, reach, keys }: Runtime): void {
  const hasKey = keys.some((key) => key.secret !== '');
  if (hasKey || reach === 'local' || !providerRow(provider).needsKey) return;
  throw new ModelError('auth', `No key for ${provider}. Enter one with: talaria model set ${provider}`);
}

async function protocolFor(apiMode: Exclude<ApiMode, 'offline'>): Promise<Protocol> {
  switch (apiMode) {
    case 'chat_completions':
      return (await import('./protocols/chat-completions/chat-completions.ts')).chatCompletions;
    case 'responses':
      return (await import('./protocols/responses/responses.ts')).responses;
    case 'anthropic_messages':
      return (await import('./protocols/anthropic-messages/anthropic-messages.ts')).anthropicMessages;
  }
}
