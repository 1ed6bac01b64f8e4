/**
 * Starts the supervisor of a call: a session and a group of its own, nothing shared with this process, so that it stays
 * when this process dies. The environment is handed over as such and never written down.
 */
import type { CallSpool } from './call-spool.ts';
import { supervisorArguments } from './supervisor-script.ts';

export interface SupervisedCommand {
  readonly command: string;
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string>>;
  /** When the supervisor ends the command if nobody else has. */
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
export function callMarker(callId: string): string {
  return `${markerName}=${callId}`;
}
const markerName = 'TALARIA_CALL';

export async function startSupervisor(spool: CallSpool, request: SupervisedCommand): Promise<SupervisorStart> {
  const { spawn } = process.getBuiltinModule('node:child_process');
  try {
    const child = spawn('/bin/sh', supervisorArguments(spool.folder, request.command, request.endAfterS), {
      cwd: request.cwd,
      env: { ...request.environment, [markerName]: spool.callId },
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
