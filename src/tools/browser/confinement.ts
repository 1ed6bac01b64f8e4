/**
 * What keeps a browser from the rest of the machine. First choice: the sandbox that commands run in too; it has files,
 * processes and a network of its own, and Chromium's own one, which can't be put up inside it, is off. Else Chromium's own,
 * which guards the machine from pages, with all its traffic through the proxy. Without either a browser is started only
 * where the operator wants commands without a sandbox as well.
 */
import { SandboxError, type Sandbox } from '../sandbox.ts';
import type { BrowserDeps } from './browser-deps.ts';
import { BrowserError } from './browser-error.ts';
import type { Confinement } from './browser-state.ts';

export type ChosenConfinement =
  | { readonly kind: 'sandbox'; readonly sandbox: Sandbox }
  | { readonly kind: 'own' }
  | { readonly kind: 'none' };

/** Throws a `BrowserError`. */
export async function chooseConfinement(deps: Pick<BrowserDeps, 'sandbox' | 'isRoot'>): Promise<ChosenConfinement> {
  const sandbox = await deps.sandbox().catch((error: unknown) => {
    if (error instanceof SandboxError) return null;
    throw error;
  });
  if (sandbox?.level === 'bubblewrap' || sandbox?.level === 'namespaces') return { kind: 'sandbox', sandbox };
  if (!(deps.isRoot ?? process.getuid?.() === 0)) return { kind: 'own' };
  if (sandbox?.level === 'none') return { kind: 'none' };
  throw new BrowserError(
    'unsafe',
    "The browser is not started: Chromium's own sandbox does not work for root, and no other one works here. " +
      'Install bubblewrap, or run Talaria as another user.',
  );
}

/** For status and doctor: one line each. */
export const confinementWords: Readonly<Record<Confinement, string>> = {
  sandbox: "in Talaria's sandbox (Chromium's own is off inside it), all traffic through the proxy",
  own: "in Chromium's own sandbox, all traffic through the proxy; files and processes of this user are not kept apart",
  none: 'in no sandbox at all, all traffic through the proxy',
};
