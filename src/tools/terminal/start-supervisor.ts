/**
 * Starts the supervisor of a call: a session and a group of its own, nothing shared with this process, so that it stays
 * when this process dies. The environment is handed over as such and never written down.
 */
import type { CallSpool } from './call-spool.ts';
import { hostedArguments, supervisorArguments, type HostedCall } from './supervisor-script.ts';

export interface SupervisedCommand {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string>>;
  /** When the supervisor ends the command if nobody else has; 0: never. */
  readonly endAfterS: number;
}

export type SupervisorStart =
  | { readonly kind: 'not-started'; readonly error: unknown }
  | { readonly kind: 'started'; readonly supervisor: StartedSupervisor };

export interface StartedSupervisor {
  readonly pid: number;
  readonly hasExited: () => boolean;
  readonly exited: Promise<void>;
  /** It keeps nobody from leaving any more. */
  readonly letGo: () => void;
}

/** By this variable the processes of a call can be told from others, whatever became of their parents. */
export const callMarkerName = 'TALARIA_CALL';
export function callMarker(spool: CallSpool): string {
  return `${callMarkerName}=${spool.folder}`;
}

/** What the programs of a supervisor outside the sandbox are found by: nothing that a command could have changed. */
const supervisorPath = '/usr/local/bin:/usr/bin:/bin';

/** Asked once more from inside: between the last look at a folder and the start, a program could put a link in its place. */
const shellScript = `if [ "$(pwd -P)" != "$2" ]; then
  echo 'The command was not run: its folder was replaced in the moment of the start.'
  exit 126
fi
if command -v bash >/dev/null; then exec bash -c "$1"; else exec sh -c "$1"; fi`;

/** A bash, or what there is, in this folder and no other; `cwd` is without links. */
export function shellArgv(command: string, cwd: string): string[] {
  return ['/bin/sh', '-c', shellScript, 'sh', command, cwd];
}

export function startSupervisor(spool: CallSpool, request: SupervisedCommand): Promise<SupervisorStart> {
  const { argv, cwd, environment, endAfterS } = request;
  const env = { ...environment, [callMarkerName]: spool.folder };
  return spawnDetached(supervisorArguments(spool.folder, argv, endAfterS), { cwd, env });
}

export function startHosted(spool: CallSpool, call: HostedCall, endAfterS: number): Promise<SupervisorStart> {
  return spawnDetached(hostedArguments(spool.folder, call, endAfterS), { cwd: '/', env: { PATH: supervisorPath } });
}

export async function spawnDetached(
  argv: readonly string[],
  options: { readonly cwd: string; readonly env: Readonly<Record<string, string>> },
): Promise<SupervisorStart> {
  const { spawn } = process.getBuiltinModule('node:child_process');
  try {
    const child = spawn('/bin/sh', argv, {
      ...options,
      env: { PATH: supervisorPath, ...options.env },
      // A session without a terminal, in which nothing can wait for a password.
      detached: true,
      stdio: 'ignore',
    });
    let hasExited = false;
    const exited = new Promise<void>((resolve) => {
      child.once('exit', () => {
        hasExited = true;
        resolve();
      });
    });
    await new Promise<void>((resolve, reject) => child.once('spawn', resolve).on('error', reject));
    const { pid } = child;
    if (pid === undefined) throw new Error('the system gave it no process id');
    return { kind: 'started', supervisor: { pid, hasExited: () => hasExited, exited, letGo: () => child.unref() } };
  } catch (error) {
    return { kind: 'not-started', error };
  }
}
