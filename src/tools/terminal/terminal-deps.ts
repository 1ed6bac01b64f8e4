/** What the terminal and its processes are made of. All of it is given from above; nothing here is chosen by a model. */
import type { Clock } from '../../lib/clock.ts';
import type { SessionId } from '../../protocol/ids.ts';
import type { Gate } from '../approval.ts';
import type { Sandbox, SandboxLevel, SandboxRequest } from '../sandbox.ts';

/** What a look at the text of a command says about it. */
export type CommandJudgement =
  | { readonly kind: 'plain' }
  /** `reasons`: each a clause for people. */
  | { readonly kind: 'asks'; readonly reasons: readonly string[] }
  /** In every mode. `reason` is a clause. */
  | { readonly kind: 'refused'; readonly reason: string };

/** Where a command is about to run. */
export interface CommandWhere {
  readonly level: SandboxLevel;
  readonly gaps: readonly string[];
  readonly isOutside: boolean;
  /** Inside, as the shell said itself: believe it for what stays inside. */
  readonly cwd: string;
  readonly workspace: string;
}

export interface TerminalDeps {
  readonly clock: Clock;
  /** For a call that names no time of its own. */
  readonly defaultTimeoutMs: number;
  /** The environment to choose from; only harmless names are passed on, and those in `envNames`. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly envNames: readonly string[];
  /** Besides the workspace; absolute. */
  readonly folders: readonly string[];
  /** What commands may read besides, and not change: the folders of skills. Absolute. */
  readonly readable: readonly string[];
  /** What no command ever sees, but for the workspace and the folders inside it; absolute. */
  readonly hidden: readonly string[];
  /** The one that proved itself; asked for with the first command. May throw a `SandboxError`. */
  readonly sandbox: () => Promise<Sandbox>;
  /** Hosts that commands reach without asking; "*" is every one. */
  readonly allowedHosts: readonly string[];
  /** The way to the allowed hosts and to these besides. The same hosts give the same way, over restarts too. */
  readonly network: (sessionId: SessionId, hosts: readonly string[]) => Promise<SandboxRequest['network']>;
  readonly gate: Gate;
  readonly judge: (command: string, where: CommandWhere) => CommandJudgement | Promise<CommandJudgement>;
  /** The files that a command would run as scripts, as it names them or whole. */
  readonly filesOf: (command: string, where: CommandWhere) => readonly string[] | Promise<readonly string[]>;
  /** A process was put into the background under this name. */
  readonly onBackground: (spoolFolder: string, id: string) => void;
}

/** Runs a command as it is. For tests, and for whoever asked for it by name. */
export const noSandbox: Sandbox = {
  level: 'none',
  description: 'no sandbox: commands have the rights of the user that runs Talaria',
  gaps: ['everything'],
  sharesFiles: true,
  wrap: ({ argv, cwd, env }) =>
    Promise.resolve({ argv: ['/bin/sh', '-c', 'cd "$1" && shift && exec "$@"', 'sh', cwd, ...argv], env }),
};
