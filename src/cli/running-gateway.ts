/** Finds the gateway that runs on a home, without opening the home: for `status` and `doctor`. */
import { ApiError, type StatusReport } from '../protocol/api.ts';
import type { CommandContext } from './command.ts';
import { lastHolder } from '../app/home-store.ts';
import { openExchange } from './http-exchange.ts';
import { readApiKey } from './read-api-key.ts';
import { createRemoteApi } from './remote-api.ts';

export type RunningGateway =
  | { readonly kind: 'runs'; readonly url: string; readonly status: StatusReport }
  /** Something answers where the gateway should, but not as it should. */
  | { readonly kind: 'unwell'; readonly url: string; readonly problem: string }
  /** It is there and does not answer. */
  | { readonly kind: 'silent'; readonly url: string; readonly pid: number }
  | { readonly kind: 'none' };

/** A gateway on this machine answers at once, unless it hangs. */
const answersWithinMs = 3_000;

export async function findRunningGateway(home: string, { env }: Pick<CommandContext, 'env'>): Promise<RunningGateway> {
  const holder = lastHolder(home);
  if (holder === null || holder.url === null) return { kind: 'none' };
  const { url, pid } = holder;
  const target = { origin: url, key: await readApiKey(home, env) };
  try {
    const health = { method: 'GET', path: '/healthz', accept: '*/*', patienceMs: answersWithinMs } as const;
    (await openExchange(target, health)).destroy();
    const status = await createRemoteApi(target).status();
    // A gateway that was killed leaves its address behind, and another home's may listen there by now.
    return status.pid === pid ? { kind: 'runs', url, status } : { kind: 'none' };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.reason !== 'unreachable') return { kind: 'unwell', url, problem: error.message };
    return isRefused(error) || !isAlive(pid) ? { kind: 'none' } : { kind: 'silent', url, pid };
  }
}

/** What to say of a gateway that hangs. */
export function silentWords(url: string, pid: number): string {
  return `the gateway at ${url} (pid ${pid}) does not answer; if it stays so, end it with kill -9 ${pid} and start it again`;
}

/** Nobody listens there. */
function isRefused({ cause }: ApiError): boolean {
  return cause instanceof Error && 'code' in cause && cause.code === 'ECONNREFUSED';
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // It is there, and another user's.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
