/** Finds the gateway that runs on a home, without opening the home: for `status` and `doctor`. */
import { ApiError, type StatusReport } from '../protocol/api.ts';
import type { CommandContext } from './command.ts';
import { lastHolder } from '../app/home-store.ts';
import { readApiKey } from './read-api-key.ts';
import { createRemoteApi } from './remote-api.ts';

export type RunningGateway =
  | { readonly kind: 'runs'; readonly url: string; readonly status: StatusReport }
  /** Something answers where the gateway should, but not as it should. */
  | { readonly kind: 'unwell'; readonly url: string; readonly problem: string }
  | { readonly kind: 'none' };

export async function findRunningGateway(home: string, { env }: Pick<CommandContext, 'env'>): Promise<RunningGateway> {
  const holder = lastHolder(home);
  if (holder === null || holder.url === null) return { kind: 'none' };
  const { url, pid } = holder;
  const api = createRemoteApi({ origin: url, key: await readApiKey(home, env) });
  try {
    const status = await api.status();
    // A gateway that was killed leaves its address behind, and another home's may listen there by now.
    return status.pid === pid ? { kind: 'runs', url, status } : { kind: 'none' };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return error.reason === 'unreachable' ? { kind: 'none' } : { kind: 'unwell', url, problem: error.message };
  }
}
