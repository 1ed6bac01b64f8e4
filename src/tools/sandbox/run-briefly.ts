/** Runs a program to its end, with a deadline and a bound on what it may print. */
import type { SandboxedCommand } from '../sandbox.ts';

export interface BriefRun {
  /** Null: it was ended by a signal, ours or another. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

const outputCharactersMax = 262_144;

export async function runBriefly(command: SandboxedCommand, timeoutMs: number, cwd = '/'): Promise<BriefRun> {
  const { spawn } = process.getBuiltinModule('node:child_process');
  const [program = '', ...rest] = command.argv;
  return new Promise((resolve, reject) => {
    const child = spawn(program, rest, {
      env: { ...command.env },
      cwd,
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    const output = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr'] as const) {
      child[name].setEncoding('utf8').on('data', (text: string) => {
        if (output[name].length < outputCharactersMax) output[name] += text;
      });
    }
    const endAll = (): void => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
      } catch {
        // It has ended by itself in this moment.
      }
      // Something left behind may hold the pipes open.
      child.stdout.destroy();
      child.stderr.destroy();
    };
    const alarm = setTimeout(endAll, timeoutMs);
    child.once('error', (error) => {
      clearTimeout(alarm);
      reject(error);
    });
    child.once('exit', (code) => {
      clearTimeout(alarm);
      const settle = (): void => resolve({ code, ...output });
      const patience = setTimeout(() => {
        endAll();
        settle();
      }, afterExitMs);
      child.once('close', () => {
        clearTimeout(patience);
        settle();
      });
    });
  });
}

/** For output that is still on its way when the program has ended. */
const afterExitMs = 500;
