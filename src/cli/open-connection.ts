/**
 * Connects a command to Talaria with the real parts. Each is loaded only when its way is taken: the program itself
 * when the home is free, the HTTP client when a gateway holds it.
 */
import { sleep, systemClock } from '../lib/clock.ts';
import type { TalariaApi } from '../protocol/api.ts';
import { resolveHome } from '../config/home.ts';
import { CliError, type CommandContext } from './command.ts';
import { connect, type Connection, type ConnectResult } from './connect.ts';

/** A gateway on this machine answers at once, unless it hangs. */
const reachableWithinMs = 500;
/** How long an interrupted command may take to put away what it began, such as a half-written file. */
const cleanupMs = 1_000;

export type OpenContext = Pick<CommandContext, 'env' | 'verbose' | 'interrupt'>;

export async function openConnection(context: OpenContext, purpose: string): Promise<ConnectResult> {
  const { env, verbose, interrupt } = context;
  const home = resolveHome(env);
  return connect({
    home,
    clock: systemClock,
    signal: interrupt,
    openLocal: async () => {
      const { openLocal } = await import('../app/open-local.ts');
      return openLocal({ home, env, purpose, verbose });
    },
    openRemote: (url) => openRemote(home, env, url),
  });
}

export async function openRemote(home: string, env: NodeJS.ProcessEnv, origin: string): Promise<Connection | null> {
  const { createRemoteApi, isReachable } = await import('./remote-api.ts');
  const { readApiKey } = await import('./read-api-key.ts');
  const target = { origin, key: await readApiKey(home, env) };
  if (!(await isReachable(target, reachableWithinMs))) return null;
  return { api: createRemoteApi(target), place: 'gateway', close: () => Promise.resolve() };
}

/**
 * Runs `use` with a connection and closes it afterwards, whatever happened. An interruption ends the wait at once;
 * what was under way is finished or undone by the store.
 */
export async function withApi<T>(
  context: OpenContext,
  purpose: string,
  use: (api: TalariaApi, connection: Connection) => Promise<T>,
): Promise<T> {
  const connected = await openConnection(context, purpose);
  if (connected.kind === 'held') throw new CliError('failed', connected.problem);
  const { connection } = connected;
  try {
    return await orInterrupted(context.interrupt, use(connection.api, connection));
  } finally {
    await connection.close();
  }
}

/** Rejects as interrupted once the work has ended by itself, which it is given a moment for. */
async function orInterrupted<T>(interrupt: AbortSignal, work: Promise<T>): Promise<T> {
  const settled = work.then(
    () => {},
    () => {},
  );
  await Promise.race([settled, whenAborted(interrupt)]);
  if (!interrupt.aborted) return work;
  await Promise.race([settled, sleep(systemClock, cleanupMs)]);
  throw interrupt.reason;
}

function whenAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
