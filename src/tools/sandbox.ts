/**
 * The contract of a sandbox: how a program is started so that it can reach its own folders and nothing else. It is a way
 * of starting, not a process: what it returns can be started by anybody, also by a supervisor that outlives Talaria. A
 * sandbox is used only after it proved itself on this machine (see `sandbox/prove-sandbox.ts`).
 */
export type SandboxLevel = 'bubblewrap' | 'namespaces' | 'landlock' | 'docker' | 'ssh' | 'none';

export interface SandboxRequest {
  /** What to run; the first one is an absolute path or is looked for in the inner PATH. */
  readonly argv: readonly string[];
  /** Where it starts: inside one of the folders. */
  readonly cwd: string;
  /** All that it sees of the environment. */
  readonly env: Readonly<Record<string, string>>;
  /** Folders that it may change. What is protected in them stays as it is (see `sandbox/protected-names.ts`). */
  readonly writable: readonly string[];
  /** Folders and files that it may read besides the system's programs and libraries, as far as they are there. */
  readonly readable: readonly string[];
  /** Never to be seen, although inside one of the others: Talaria's home, keys. */
  readonly hidden: readonly string[];
  /**
   * `off`: no network but its own loopback. A socket: what goes through the proxy behind it, which knows the hosts that
   * are allowed; inside, `HTTP_PROXY` and its kin point there. `open`: all of it; only after an approval.
   */
  readonly network: 'off' | 'open' | { readonly proxySocket: string };
}

export interface SandboxedCommand {
  /** To be started as it is, in any folder, with no environment besides `env`. */
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

export interface Sandbox {
  readonly level: SandboxLevel;
  /** For people: one line. */
  readonly description: string;
  /** What it does not keep apart, for people; empty for a whole one. Shown in status, doctor and every approval. */
  readonly gaps: readonly string[];
  /** Whether the workspace inside is the one outside: false for `ssh`. */
  readonly sharesFiles: boolean;
  /** May prepare files of its own; idempotent. Throws a `SandboxError` if it can't be done. */
  wrap(request: SandboxRequest): Promise<SandboxedCommand>;
}

export class SandboxError extends Error {
  override readonly name = 'SandboxError';
}

/** One thing that a probe tried in a sandbox. */
export interface SandboxCheck {
  readonly name: string;
  readonly passed: boolean;
  /** What happened instead, for people. */
  readonly detail: string;
}

export interface SandboxProof {
  readonly level: SandboxLevel;
  /** Null if it could be tried at all; else why not, with what to do about it. */
  readonly missing: string | null;
  readonly checks: readonly SandboxCheck[];
}

/** What was chosen, and how each step of the ladder did on the way. */
export interface ChosenSandbox {
  readonly sandbox: Sandbox;
  readonly proofs: readonly SandboxProof[];
}
