/**
 * Talaria inside this process, for one command: the embedded store, no port. It works on the session it is asked
 * about and leaves what other sessions have open to the next gateway.
 */
import type { TalariaApi } from '../protocol/api.ts';
import type { Holder } from '../store/sqlite/home-lock.ts';
import { openHome } from './open-home.ts';

const leaveGraceMs = 2_000;

export interface LocalTalaria {
  readonly api: TalariaApi;
  /** Turns reach a safe point, the store is closed and the home given back. Idempotent. */
  close(): Promise<void>;
}

export type OpenLocalResult =
  | { readonly kind: 'opened'; readonly local: LocalTalaria }
  | { readonly kind: 'held'; readonly holder: Holder | null };

export async function openLocal(options: {
  home: string;
  env: NodeJS.ProcessEnv;
  purpose: string;
  verbose: boolean;
}): Promise<OpenLocalResult> {
  const result = await openHome({ ...options, mode: 'one-shot' });
  if (result.kind === 'held') return result;
  const { talaria, close } = result.home;
  return { kind: 'opened', local: { api: talaria.api, close: () => close(leaveGraceMs) } };
}
