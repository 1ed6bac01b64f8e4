/**
 * A server that is a program of ours: started with pipes, spoken to in lines of JSON, ended with all that it started. What
 * it may do is decided before, by how it is started. It dies with Talaria: its input ends, and in the sandbox it is killed.
 * Limits hold for what it writes and leaves unread: a line that is too long, too many that are no message, or a heap of
 * answers that it does not take end it.
 */
import type { ChildProcess } from 'node:child_process';
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { sleep, type Clock } from '../../lib/clock.ts';
import type { SandboxedCommand } from '../sandbox.ts';

export const messageBytesMax = 16_000_000;
const oddLinesMax = 200;
/** Messages that wait for the program to read them. */
const untakenMax = 10_000;
const lastWordsMax = 12;
const lineCharsMax = 500;
/** After its input has ended, and again after it was told to end. */
const graceMs = 1_500;

export interface ServerProcessDeps {
  readonly clock: Clock;
  readonly decode: (line: string) => JSONRPCMessage;
  readonly encode: (message: JSONRPCMessage) => string;
  /** One line that the program wrote about itself. */
  readonly onWords: (line: string) => void;
}

export class ServerProcess implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  /** With `pid`, what the SDK knows a local program by. */
  readonly stderr = null;
  readonly #deps: ServerProcessDeps;
  readonly #command: SandboxedCommand;
  readonly #lastWords: string[] = [];
  readonly #exited = Promise.withResolvers<void>();
  #child: ChildProcess | null = null;
  #oddLines = 0;
  #untaken = 0;
  #isClosed = false;
  /** How it ended, for people; empty while it runs. */
  ending = '';

  constructor(deps: ServerProcessDeps, command: SandboxedCommand) {
    this.#deps = deps;
    this.#command = command;
  }

  get pid(): number | null {
    return this.#child?.pid ?? null;
  }

  /** The newest lines that it wrote about itself. */
  get lastWords(): string {
    return this.#lastWords.join('\n');
  }

  async start(): Promise<void> {
    const [program = '', ...args] = this.#command.argv;
    const { spawn } = process.getBuiltinModule('node:child_process');
    // A group of its own, so that what it starts can be ended with it.
    const child = spawn(program, args, { cwd: '/', env: this.#command.env, stdio: 'pipe', detached: true });
    this.#child = child;
    child.stdin.on('error', () => {});
    child.stdout.on('error', () => {});
    child.stderr.on('error', () => {});
    this.#readMessages(child.stdout);
    readLines(child.stderr, (line) => this.#hear(line));
    child.once('exit', (code, signal) => {
      const how = signal === null ? `it ended with exit code ${code}` : `it was ended by ${signal}`;
      if (this.ending === '') this.ending = how;
      this.#endGroup('SIGKILL');
      this.#exited.resolve();
      // What it wrote last is still on the way.
      child.once('close', () => this.#closed());
      setTimeout(() => this.#closed(), 250).unref();
    });
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve);
      child.once('error', (error) => {
        this.#exited.resolve();
        reject(error);
      });
    });
  }

  send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.#child?.stdin;
    if (stdin === null || stdin === undefined || this.#isClosed || !stdin.writable) {
      return Promise.reject(new Error('the server is gone'));
    }
    if (stdin.writableLength > messageBytesMax || this.#untaken > untakenMax) {
      this.#giveUp('it does not read what it is told');
      return Promise.reject(new Error('the server does not read what it is told'));
    }
    this.#untaken += 1;
    return new Promise((resolve, reject) => {
      stdin.write(this.#deps.encode(message), (error) => {
        this.#untaken -= 1;
        if (error === null || error === undefined) resolve();
        else reject(error);
      });
    });
  }

  /** Resolves once the program is gone. */
  async close(): Promise<void> {
    const child = this.#child;
    if (child?.pid !== undefined) {
      child.stdin?.end();
      if (!(await this.#ends())) this.#endGroup('SIGTERM');
      if (!(await this.#ends())) this.#endGroup('SIGKILL');
      await this.#ends();
    }
    this.#closed();
  }

  async #ends(): Promise<boolean> {
    const over = new AbortController();
    const waited = sleep(this.#deps.clock, graceMs, over.signal).then(
      () => false,
      () => false,
    );
    const ended = await Promise.race([this.#exited.promise.then(() => true), waited]);
    over.abort();
    return ended;
  }

  #endGroup(signal: 'SIGTERM' | 'SIGKILL'): void {
    const pid = this.#child?.pid;
    if (pid === undefined) return;
    try {
      process.kill(-pid, signal);
    } catch {
      // Nobody is left.
    }
  }

  #closed(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#child?.stdout?.destroy();
    this.#child?.stderr?.destroy();
    this.onclose?.();
  }

  #hear(line: string): void {
    const words = line.slice(0, lineCharsMax).trim();
    if (words === '') return;
    this.#lastWords.push(words);
    if (this.#lastWords.length > lastWordsMax) this.#lastWords.shift();
    this.#deps.onWords(words);
  }

  #readMessages(stdout: NodeJS.ReadableStream): void {
    readLines(
      stdout,
      (line) => {
        if (line.trim() === '' || this.#isClosed) return;
        let message: JSONRPCMessage;
        try {
          message = this.#deps.decode(line);
        } catch {
          this.#hear(`(no message) ${line}`);
          this.#oddLines += 1;
          if (this.#oddLines > oddLinesMax) this.#giveUp('it writes something else than messages to its output');
          return;
        }
        this.onmessage?.(message);
      },
      () => this.#giveUp(`it wrote a message of more than ${messageBytesMax / 1e6} MB`),
    );
  }

  #giveUp(why: string): void {
    if (this.#isClosed) return;
    this.ending = why;
    this.#endGroup('SIGKILL');
    this.#closed();
  }
}

/** Calls back with each whole line; what is longer than a message may be is not kept. */
function readLines(stream: NodeJS.ReadableStream, onLine: (line: string) => void, onTooLong = () => {}): void {
  let pieces: Buffer[] = [];
  let bytes = 0;
  stream.on('data', (chunk: Buffer) => {
    let rest = chunk;
    for (let end = rest.indexOf(10); end !== -1; end = rest.indexOf(10)) {
      pieces.push(rest.subarray(0, end));
      const line = Buffer.concat(pieces).toString('utf8');
      pieces = [];
      bytes = 0;
      rest = rest.subarray(end + 1);
      onLine(line);
    }
    bytes += rest.byteLength;
    if (bytes > messageBytesMax) {
      pieces = [];
      bytes = 0;
      onTooLong();
    } else if (rest.byteLength > 0) pieces.push(rest);
  });
}
