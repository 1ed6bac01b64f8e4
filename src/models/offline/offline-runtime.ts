/** The runtime of the model inside the program: no key, no cost. */
import type { Runtime } from '../model.ts';

/** `rehearsal-instant` speaks without pauses and sets no timers. */
export const offlineNames = ['rehearsal', 'rehearsal-instant'] as const;
export type OfflineName = (typeof offlineNames)[number];

export function offlineRuntime(name: OfflineName): Runtime {
  return {
    provider: 'offline',
    model: name,
    baseUrl: '',
    apiMode: 'offline',
    keys: [{ id: '', secret: '' }],
    contextLength: 200_000,
    outputTokensMax: 32_000,
    caching: 'none',
    reach: 'local',
    stallMs: 180_000,
    price: { input: 0, cachedInput: 0, cacheWrite: 0, cacheWriteLong: 0, output: 0 },
    seesImages: false,
    reasons: true,
    quirks: [],
    compressor: null,
  };
}
