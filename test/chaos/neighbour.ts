/**
 * A process beside the gateway that outlives all its kills: the platform, the ledger, the model. The run asks it and
 * hears from it through the pipe that both share; when the run ends, or dies, so does the neighbour.
 */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** What goes through the pipe. A reply carries the number of its request; an event has none. */
type ToNeighbour = { readonly number: number; readonly request: unknown };
type FromNeighbour = { readonly number: number; readonly reply: unknown } | { readonly event: unknown };

export interface NeighbourOptions {
  /** Beside this file. */
  readonly script: string;
  /** Not on the command line: there it would look like something that the gateway has left running. */
  readonly env?: Readonly<Record<string, string>>;
  readonly onEvent?: (event: unknown) => void;
}

export class Neighbour {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, { resolve: (reply: unknown) => void; reject: (error: Error) => void }>();
  #number = 0;

  constructor({ script, env = {}, onEvent = () => {} }: NeighbourOptions) {
    this.#child = fork(join(import.meta.dirname, script), {
      execArgv: [],
      env: { PATH: process.env['PATH'], ...env },
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    this.#child.on('message', (message: FromNeighbour) => {
      if ('event' in message) return onEvent(message.event);
      this.#waiting.get(message.number)?.resolve(message.reply);
      this.#waiting.delete(message.number);
    });
    this.#child.once('exit', (code) => {
      for (const { reject } of this.#waiting.values()) reject(new Error(`${script} ended with ${code}`));
      this.#waiting.clear();
    });
  }

  ask(request: unknown): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const number = ++this.#number;
      this.#waiting.set(number, { resolve, reject });
      this.#child.send({ number, request } satisfies ToNeighbour, (error) => {
        if (error !== null) reject(error);
      });
    });
  }

  async end(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await ended;
  }
}

/** The other side: answers what the run asks. */
export function serveRun(answer: (request: unknown) => unknown): void {
  process.on('message', (message: ToNeighbour) => {
    void (async () => {
      process.send?.({ number: message.number, reply: await answer(message.request) } satisfies FromNeighbour);
    })();
  });
  process.on('disconnect', () => process.exit());
}

export function tellRun(event: unknown): void {
  process.send?.({ event } satisfies FromNeighbour);
}
