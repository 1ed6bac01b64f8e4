/**
 * Reaches Talaria: opens the home in this process, or talks to the gateway that holds it. A holder that is starting
 * up or about to finish is given a moment; after that the caller is told who holds the home and what to do. The
 * whole takes less than two seconds, whatever the holder does.
 */
import { heldBy } from '../app/held-by.ts';
import type { OpenLocalResult } from '../app/open-local.ts';
import type { TalariaApi } from '../protocol/api.ts';
import { sleep, type Clock } from '../lib/clock.ts';

export interface Connection {
  readonly api: TalariaApi;
  readonly place: 'this-process' | 'gateway';
  /** Never throws for a gateway that is gone. Idempotent. */
  close(): Promise<void>;
}

export type ConnectResult =
  | { readonly kind: 'connected'; readonly connection: Connection }
  /** `problem` names the holder and says what to do. */
  | { readonly kind: 'held'; readonly problem: string };

export interface ConnectDeps {
  readonly home: string;
  readonly openLocal: () => Promise<OpenLocalResult>;
  /** Null if nobody answers at this address. */
  readonly openRemote: (url: string) => Promise<Connection | null>;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** How long a holder that can't be talked to is waited for. */
const patienceMs = 1_500;
const pollMs = 50;

export async function connect(deps: ConnectDeps): Promise<ConnectResult> {
  const deadline = deps.clock.now() + patienceMs;
  for (;;) {
    deps.signal.throwIfAborted();
    const opened = await deps.openLocal();
    if (opened.kind === 'opened') return { kind: 'connected', connection: localConnection(opened.local) };
    const { holder } = opened;
    const remote = holder === null || holder.url === null ? null : await deps.openRemote(holder.url);
    if (remote !== null) return { kind: 'connected', connection: remote };
    if (deps.clock.now() + pollMs >= deadline) return { kind: 'held', problem: heldBy(deps.home, holder) };
    await sleep(deps.clock, pollMs, deps.signal);
  }
}

function localConnection(local: { api: TalariaApi; close(): Promise<void> }): Connection {
  return { api: local.api, place: 'this-process', close: () => local.close() };
}
