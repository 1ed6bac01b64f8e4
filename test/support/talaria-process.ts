/**
 * The real program as a process, on a home of its own: run a command and look at what it printed, or start a gateway and
 * wait until it is ready. Everything that is started is ended with the test, and nothing waits for ever.
 */
import { spawn, type ChildProcess, type StdioOptions } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';

/** What users start: the launcher and the built bundle, which the test command builds first. */
const program = join(import.meta.dirname, '../../bin/talaria');
/** A process that is not done by then hangs. Generous: the machine may be busy. */
const patienceMs = 60_000;

export interface Finished {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly durationMs: number;
}

export interface RunOptions {
  readonly home: string;
  /** What it reads on standard input; without it the input is empty. Null: never written to and never closed. */
  readonly input?: string | Uint8Array | null;
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
}

/** A folder that goes away with the test; the home itself is inside and not there yet. */
export async function freshHome(test: TestContext): Promise<string> {
  return join(await freshFolder(test), 'home');
}

export async function freshFolder(test: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'talaria-test-'));
  atEnd(test, () => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}

const cleanups = new WeakMap<TestContext, (() => unknown)[]>();

/** Cleans up after the test, the newest thing first: a process is ended before the folder that it works in is removed. */
export function atEnd(test: TestContext, cleanUp: () => unknown): void {
  const known = cleanups.get(test);
  if (known !== undefined) {
    known.push(cleanUp);
    return;
  }
  const all = [cleanUp];
  cleanups.set(test, all);
  test.after(async () => {
    for (const next of all.reverse()) await next();
  });
}

export class TalariaProcess {
  readonly child: ChildProcess;
  readonly ended: Promise<Finished>;
  #stdout = '';
  #stderr = '';
  readonly #watchers = new Set<() => void>();

  constructor(test: TestContext, args: readonly string[], options: RunOptions) {
    const startedAt = performance.now();
    const stdio: StdioOptions = [options.input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'];
    const { PATH, HOME } = process.env;
    const env = { PATH, HOME, TALARIA_HOME: options.home, ...options.env };
    const cwd = options.cwd === undefined ? {} : { cwd: options.cwd };
    const child = spawn(program, args, { env, stdio, ...cwd });
    this.child = child;
    child.stdout?.on('data', (chunk: Buffer) => {
      this.#stdout += chunk.toString();
      for (const look of this.#watchers) look();
    });
    child.stderr?.on('data', (chunk: Buffer) => {
      this.#stderr += chunk.toString();
      for (const look of this.#watchers) look();
    });
    // A program that refuses early does not read its input.
    child.stdin?.on('error', () => {});
    if (options.input !== undefined && options.input !== null) child.stdin?.end(options.input);
    const hanging = setTimeout(() => child.kill('SIGKILL'), patienceMs);
    this.ended = new Promise((resolve, reject) => {
      child.on('error', reject);
      child.on('close', (code, signal) => {
        clearTimeout(hanging);
        const { stdout, stderr } = this;
        resolve({ code, signal, stdout, stderr, durationMs: performance.now() - startedAt });
        for (const look of this.#watchers) look();
      });
    });
    atEnd(test, () => {
      child.kill('SIGKILL');
      return this.ended;
    });
  }

  get stdout(): string {
    return this.#stdout;
  }

  get stderr(): string {
    return this.#stderr;
  }

  get pid(): number {
    return this.child.pid ?? 0;
  }

  kill(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  /** Resolves with the match once it has been printed; rejects if the process ends before. */
  printed(pattern: RegExp, where: 'stdout' | 'stderr' = 'stdout'): Promise<RegExpExecArray> {
    return new Promise((resolve, reject) => {
      const look = () => {
        const match = pattern.exec(this[where]);
        if (match === null && this.child.exitCode === null && this.child.signalCode === null) return;
        this.#watchers.delete(look);
        if (match !== null) resolve(match);
        else reject(new Error(`it ended without printing ${pattern}:\n${this.stdout}\n${this.stderr}`));
      };
      this.#watchers.add(look);
      look();
    });
  }
}

export function startTalaria(test: TestContext, args: readonly string[], options: RunOptions): TalariaProcess {
  return new TalariaProcess(test, args, options);
}

/** Runs a command to its end. */
export function runTalaria(test: TestContext, args: readonly string[], options: RunOptions): Promise<Finished> {
  return new TalariaProcess(test, args, options).ended;
}

export interface Gateway {
  readonly process: TalariaProcess;
  readonly url: string;
  /** Ends it in good order; resolves with what it left behind. */
  stop(): Promise<Finished>;
}

/** A gateway on a free port, ready. */
export async function startGateway(test: TestContext, options: RunOptions): Promise<Gateway> {
  const gateway = new TalariaProcess(test, ['gateway', '--port', '0'], options);
  const [, url = ''] = await gateway.printed(/^listening on (http:\/\/\S+)\n/);
  return {
    process: gateway,
    url,
    stop() {
      gateway.kill('SIGTERM');
      return gateway.ended;
    },
  };
}
