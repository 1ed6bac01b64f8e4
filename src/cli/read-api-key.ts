/** The key that a gateway of this home wants, from its configuration; null if none is set. */
import { loadConfig } from '../config/load.ts';

/** A broken file gives no key: the gateway goes on with an older one, and will say so if it wants a key. */
export async function readApiKey(home: string, env: NodeJS.ProcessEnv): Promise<string | null> {
  const { config } = await loadConfig({ home, env });
  return config?.channels.api.key ?? null;
}
