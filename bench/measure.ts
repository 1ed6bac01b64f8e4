/** What all benchmarks share: medians of interleaved runs, a process until it says a word, and the row of a result. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const root = join(import.meta.dirname, '..');
export const talaria = join(root, 'bin', 'talaria');

export interface Row {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** Against the baseline of the same run, and what it should stay below. */
  readonly ratio?: number;
  readonly limit?: number;
}

/** A line of the table: the figure, its ratio, and whether it keeps to its limit. */
export function formatRow({ name, value, unit, ratio, limit }: Row): string {
  const figure = `${value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0)} ${unit}`.padStart(16);
  const against = ratio === undefined ? '' : `${ratio.toFixed(2)} ×`.padStart(9);
  const judged = ratio ?? value;
  const verdict =
    limit === undefined
      ? ''
      : `  (at most ${limit}${ratio === undefined ? ` ${unit}` : ' ×'}: ${judged <= limit ? 'ok' : 'MISSED'})`;
  return `  ${name.padEnd(38)}${figure}${against}${verdict}`;
}

export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

export const median = (values: readonly number[]): number => quantile(values, 0.5);

/** Medians in milliseconds. The subjects take turns, so that a noisy moment hits all of them. */
export async function interleaved<Name extends string>(
  rounds: number,
  subjects: Record<Name, () => Promise<number>>,
): Promise<Record<Name, number>> {
  const names = Object.keys(subjects) as Name[];
  const times = new Map<Name, number[]>(names.map((name) => [name, []]));
  for (let round = 0; round <= rounds; round++) {
    for (const name of names) {
      const time = await subjects[name]();
      // The first round warms caches of the system.
      if (round > 0) times.get(name)?.push(time);
    }
  }
  return Object.fromEntries(names.map((name) => [name, median(times.get(name) ?? [])])) as Record<Name, number>;
}

/** How long a command takes from start to end. */
export async function timeToEnd(command: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  const start = performance.now();
  const child = spawn(command, args, { env, stdio: 'ignore' });
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${code}`);
  return performance.now() - start;
}

export interface RunningGateway {
  readonly child: ChildProcess;
  readonly url: string;
  readonly readyMs: number;
  stop(): Promise<void>;
}

export async function startGateway(home: string, env: NodeJS.ProcessEnv = {}): Promise<RunningGateway> {
  const start = performance.now();
  const child = spawn(talaria, ['gateway', '--port', '0'], {
    env: { ...homeEnv(home), ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  for await (const chunk of child.stdout) {
    text += String(chunk);
    const url = /listening on (\S+)/.exec(text)?.[1];
    if (url === undefined) continue;
    const readyMs = performance.now() - start;
    return {
      child,
      url,
      readyMs,
      async stop() {
        child.kill('SIGTERM');
        if (child.exitCode === null) await once(child, 'exit');
      },
    };
  }
  throw new Error('the gateway ended before it was ready');
}

export function homeEnv(home: string): NodeJS.ProcessEnv {
  return { ...process.env, TALARIA_HOME: home };
}

export async function withHome<T>(config: string, use: (home: string) => Promise<T>): Promise<T> {
  const home = mkdtempSync(join(tmpdir(), 'talaria-bench-'));
  try {
    if (config !== '') writeFileSync(join(home, 'config.yaml'), config);
    return await use(home);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}
