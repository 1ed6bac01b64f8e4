/** Which model the configuration means. */
import type { Config } from '../config/schema.ts';
import type { Clock } from '../lib/clock.ts';
import { ModelError, type Model } from '../models/model.ts';

export function modelNameOf(config: Config): { provider: string; name: string } {
  const provider = config.model.provider ?? 'offline';
  return { provider, name: config.model.name ?? (provider === 'offline' ? 'rehearsal' : 'unnamed') };
}

export async function buildModel(config: Config, clock: Clock): Promise<Model> {
  const { provider, name } = modelNameOf(config);
  if (provider !== 'offline') return notInThisVersion(provider, name);
  const { createOfflineModel } = await import('../models/offline/offline-model.ts');
  return createOfflineModel({ clock, name: name === 'rehearsal-instant' ? name : 'rehearsal' });
}

/** Says so in the conversation instead of pretending to answer. */
function notInThisVersion(provider: string, name: string): Model {
  const message = `This version can't reach ${provider} yet. Set model.provider to offline: talaria config set model.provider offline`;
  return {
    provider,
    name,
    async *stream() {
      yield { kind: 'failed', error: new ModelError('bad-request', message, false) };
    },
  };
}
