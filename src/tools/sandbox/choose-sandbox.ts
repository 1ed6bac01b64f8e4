/**
 * Chooses the sandbox that commands run in. `auto` goes down a ladder and takes the first that proves itself and has no
 * gaps; if none does, commands are refused, with what to install. What is asked for by name is taken or refused, never
 * replaced by something weaker.
 */
import { SandboxError, type ChosenSandbox, type Sandbox, type SandboxLevel, type SandboxProof } from '../sandbox.ts';
import { createBubblewrapSandbox } from './bubblewrap-sandbox.ts';
import { createDockerSandbox } from './docker-sandbox.ts';
import { explainFailure } from './explain-failure.ts';
import { createLandlockSandbox } from './landlock-sandbox.ts';
import { createNamespacesSandbox } from './namespaces-sandbox.ts';
import { createNoSandbox } from './no-sandbox.ts';
import { keepProof, proofKey, readProof } from './proof-cache.ts';
import { isProved, proveSandbox } from './prove-sandbox.ts';
import type { SandboxDeps } from './sandbox-deps.ts';
import { createSshSandbox } from './ssh-sandbox.ts';

export interface SandboxSettings {
  readonly backend: 'auto' | SandboxLevel;
  readonly dockerImage: string;
  /** USER@HOST or USER@HOST:PORT; null if not set. */
  readonly sshTarget: string | null;
}

export type SandboxChoice =
  | ({ readonly kind: 'chosen' } & ChosenSandbox)
  /** Nothing may be run. `message` says why and what to do. */
  | { readonly kind: 'refused'; readonly message: string; readonly proofs: readonly SandboxProof[] };

export interface SandboxChooser {
  /** Proves when asked for the first time, or again after a refusal. */
  choose(): Promise<SandboxChoice>;
  /** For status: what is known without waiting. */
  peek(): SandboxChoice | { readonly kind: 'not-yet-proved' };
}

export function createSandboxChooser(deps: SandboxDeps, settings: SandboxSettings): SandboxChooser {
  let pending: Promise<SandboxChoice> | undefined;
  let known: SandboxChoice | undefined;
  return {
    choose: async () => {
      if (known?.kind === 'chosen') return known;
      pending ??= chooseSandbox(deps, settings).finally(() => (pending = undefined));
      known = await pending;
      return known;
    },
    peek: () => known ?? { kind: 'not-yet-proved' },
  };
}

export async function chooseSandbox(deps: SandboxDeps, settings: SandboxSettings): Promise<SandboxChoice> {
  const { backend } = settings;
  if (backend === 'none') return { kind: 'chosen', sandbox: createNoSandbox(), proofs: [] };
  const platform = deps.platform ?? process.platform;
  if (platform !== 'linux' && backend !== 'docker' && backend !== 'ssh') {
    const message = 'There is no sandbox on this system; set terminal.backend to docker, ssh or none.';
    return { kind: 'refused', message, proofs: [] };
  }
  const proofs: SandboxProof[] = [];
  for (const sandbox of candidates(deps, settings)) {
    const proof = await proofOf(deps, sandbox);
    proofs.push(proof);
    const isTaken = isProved(proof, backend === 'auto' ? [] : declaredGaps(sandbox.level));
    if (isTaken) return { kind: 'chosen', sandbox, proofs };
  }
  return { kind: 'refused', message: await explainFailure(backend, proofs), proofs };
}

function candidates(deps: SandboxDeps, { backend, dockerImage, sshTarget }: SandboxSettings): Sandbox[] {
  switch (backend) {
    case 'auto':
      return [createBubblewrapSandbox(deps), createNamespacesSandbox(deps), createLandlockSandbox(deps)];
    case 'bubblewrap':
      return [createBubblewrapSandbox(deps)];
    case 'namespaces':
      return [createNamespacesSandbox(deps)];
    case 'landlock':
      return [createLandlockSandbox(deps)];
    case 'docker':
      return [createDockerSandbox(deps, dockerImage)];
    case 'ssh':
      return [createSshSandbox(deps, { target: sshTarget ?? '' })];
    case 'none':
      return [createNoSandbox()];
  }
}

/** Checks that a level is known not to pass; it says so in its gaps, and whoever names it has chosen it so. */
function declaredGaps(level: SandboxLevel): readonly string[] {
  return level === 'landlock' ? ['leaves protected files alone'] : [];
}

async function proofOf(deps: SandboxDeps, sandbox: Sandbox): Promise<SandboxProof> {
  const key = await proofKey(deps, sandbox);
  const kept = await readProof(deps.stateFolder, sandbox.level, key);
  if (kept !== null) return kept;
  const proof = await proveSandbox(sandbox, deps).catch((error: unknown): SandboxProof => {
    if (error instanceof SandboxError) return { level: sandbox.level, missing: error.message, checks: [] };
    throw error;
  });
  if (isProved(proof, declaredGaps(sandbox.level))) await keepProof(deps.stateFolder, key, proof);
  return proof;
}
