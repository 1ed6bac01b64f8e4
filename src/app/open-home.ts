/**
 * Opens a home for this process: the folder and its lock, and behind the lock everything else. Everything that was
 * opened is closed again, in the opposite order, also when a later step fails.
 */
import { prepareHome } from '../config/home.ts';
import { systemClock } from '../lib/clock.ts';
import { acquireHomeLock, type Holder } from '../store/sqlite/home-lock.ts';
import type { OpenedHome, OpenHomeOptions } from './open-locked-home.ts';

export type OpenHomeResult =
  | { readonly kind: 'opened'; readonly home: OpenedHome }
  | { readonly kind: 'held'; readonly holder: Holder | null };

export async function openHome(options: OpenHomeOptions): Promise<OpenHomeResult> {
  await prepareHome(options.home);
  const holder = { pid: process.pid, purpose: options.purpose, url: null, startedAt: systemClock.now() };
  const claim = acquireHomeLock(options.home, holder);
  if (claim.kind === 'held') return claim;
  const undo: (() => unknown)[] = [() => claim.lock.release()];
  try {
    // Loaded only now: whoever finds the home held, because a gateway runs, needs none of it.
    const { openLockedHome } = await import('./open-locked-home.ts');
    return { kind: 'opened', home: await openLockedHome(options, claim.lock, undo) };
  } catch (error) {
    for (const step of undo.toReversed()) await step();
    throw error;
  }
}
