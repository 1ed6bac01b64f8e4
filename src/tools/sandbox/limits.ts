/**
 * What keeps commands from taking the machine down by using it up. When memory runs out, the kernel ends something of a
 * sandbox first and never Talaria. Processes and threads are counted for each sandbox, which the kernel does for every user
 * but root, and for a sandbox by itself since Linux 5.14.
 */
import { readFile } from 'node:fs/promises';
import { release } from 'node:os';
import { findProgram } from './find-program.ts';
import type { SandboxDeps } from './sandbox-deps.ts';

export const processesMax = 4_096;

/** For the shell that becomes the sandbox; what it started before is not concerned. */
export const firstToGo = '{ echo 1000 >/proc/self/oom_score_adj; } 2>/dev/null\n';

/** To be started inside, where a sandbox counts by itself. */
export async function withLimits(deps: SandboxDeps, argv: readonly string[]): Promise<readonly string[]> {
  if (!countsProcesses(deps)) return argv;
  const prlimit = await findProgram(deps, 'prlimit');
  // A limit can be lowered only: one that is lower stays.
  const limits = await readFile('/proc/self/limits', 'utf8').catch(() => '');
  const [, least] = /^Max processes\s+\S+\s+(\d+)/m.exec(limits) ?? [];
  if (prlimit === null || Number(least ?? Infinity) < processesMax) return argv;
  return [prlimit, `--nproc=${processesMax}`, '--', ...argv];
}

export function countsProcesses({ isRoot = process.getuid?.() === 0 }: Pick<SandboxDeps, 'isRoot'>): boolean {
  const [major = 0, minor = 0] = release().split('.').map(Number);
  return !isRoot && (major > 5 || (major === 5 && minor >= 14));
}
