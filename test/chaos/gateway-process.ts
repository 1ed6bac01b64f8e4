/** The real gateway as a process that may die at any moment, by its own hand (a fault point) or by ours. */
import { spawn, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';

const stderrCharsMax = 8_000;

export interface GatewayProgram {
  readonly command: readonly [string, ...string[]];
  readonly env: Readonly<Record<string, string>>;
}

/** What users start: the launcher and the built bundle. */
export const talariaProgram: GatewayProgram = {
  command: [join(import.meta.dirname, '../../bin/talaria'), 'gateway', '--port', '0'],
  env: {},
};

export interface GatewayEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export class GatewayProcess {
  readonly startedAt = performance.now();
  /** Its address, or null if it died first. */
  readonly ready: Promise<string | null>;
  readonly ended: Promise<GatewayEnd>;
  /** The point at which it kills itself. */
  readonly fault: string | null;
  isAlive = true;
  readyAfterMs: number | null = null;
  stderr = '';
  readonly #child: ChildProcess;

  constructor(program: GatewayProgram, home: string, fault: string | null) {
    this.fault = fault;
    const { PATH, HOME } = process.env;
    const own = { TALARIA_HOME: home, ...(fault === null ? {} : { TALARIA_FAULT: fault }) };
    const [file, ...args] = program.command;
    const child = spawn(file, args, { env: { PATH, HOME, ...program.env, ...own }, stdio: ['ignore', 'pipe', 'pipe'] });
    this.#child = child;
    child.stderr.on('data', (chunk: Buffer) => {
      this.stderr = (this.stderr + chunk.toString()).slice(-stderrCharsMax);
    });
    this.ended = new Promise((resolve, reject) => {
      child.once('error', reject);
      // Not `close`: what the gateway started may outlive it and hold its pipes.
      child.once('exit', (code, signal) => {
        this.isAlive = false;
        resolve({ code, signal });
      });
    });
    this.ready = new Promise((resolve) => {
      let printed = '';
      child.stdout.on('data', (chunk: Buffer) => {
        printed += chunk.toString();
        const url = /^listening on (http:\/\/\S+)\n/m.exec(printed)?.[1];
        if (url === undefined || this.readyAfterMs !== null) return;
        this.readyAfterMs = performance.now() - this.startedAt;
        resolve(url);
      });
      void this.ended.then(() => resolve(null));
    });
  }

  signal(signal: 'SIGKILL' | 'SIGTERM'): void {
    this.#child.kill(signal);
  }
}
