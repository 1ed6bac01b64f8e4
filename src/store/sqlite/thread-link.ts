/**
 * The main thread's end of a store thread: requests out, answers in. Keeps the process alive only while an answer is
 * outstanding. When the thread dies unexpectedly, everything outstanding and everything later fails with `unavailable`.
 */
import { Worker } from 'node:worker_threads';
import { StoreError } from '../store.ts';
import { endRequest, unpackError, type ThreadAnswer, type ThreadRequest } from './thread-messages.ts';

/** Far above what callers' own limits let through: reaching it means that the disk has stopped. */
const outstandingMax = 100_000;
/**
 * How many answers of one group are given out before everything else has its turn: each wakes somebody who goes on at
 * once, and a hundred of them together would hold up whatever else happens in the program.
 */
const answersAtOnce = 8;

export interface ThreadLinkOptions {
  readonly entry: URL;
  readonly data: unknown;
  /** For people: what is gone when this thread is. */
  readonly name: string;
}

interface Outstanding {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

export class ThreadLink {
  readonly #name: string;
  readonly #worker: Worker;
  readonly #exited: Promise<void>;
  readonly #outstanding = new Map<number, Outstanding>();
  /** What has arrived and is not given out yet, in order. */
  readonly #arrived: ThreadAnswer[] = [];
  #lastId = 0;
  #gone: StoreError | null = null;
  #closing = false;

  constructor({ entry, data, name }: ThreadLinkOptions) {
    this.#name = name;
    // The test runner's flags are not for threads.
    this.#worker = new Worker(entry, { workerData: data, execArgv: [], name });
    this.#worker.unref();
    this.#worker.on('message', (answers: readonly ThreadAnswer[]) => this.#arrive(answers));
    this.#worker.on('error', (error) =>
      this.#end(`it failed: ${error instanceof Error ? error.message : String(error)}`),
    );
    this.#worker.on('messageerror', (error) => this.#end(`its answer could not be read: ${error.message}`));
    this.#exited = new Promise((resolve) => {
      this.#worker.on('exit', (code) => {
        this.#end(`it ended with code ${code}`);
        resolve();
      });
    });
  }

  get idle(): boolean {
    return this.#outstanding.size === 0;
  }

  /** False once the thread has ended, for whatever reason. */
  get alive(): boolean {
    return this.#gone === null;
  }

  request(body: unknown): Promise<unknown> {
    if (this.#gone !== null) return Promise.reject(this.#gone);
    if (this.#closing) return Promise.reject(closed(this.#name));
    if (this.#outstanding.size >= outstandingMax) {
      return Promise.reject(new StoreError('unavailable', `The ${this.#name} is overloaded; try again in a moment.`));
    }
    return new Promise((resolve, reject) => {
      const id = ++this.#lastId;
      this.#post({ id, body });
      if (this.#outstanding.size === 0) this.#worker.ref();
      this.#outstanding.set(id, { resolve, reject });
    });
  }

  /** Everything asked before is answered, then the thread ends in good order. Idempotent. */
  async close(): Promise<void> {
    if (!this.#closing && this.#gone === null) {
      this.#closing = true;
      this.#worker.ref();
      this.#post(endRequest);
    }
    await this.#exited;
  }

  #post(message: ThreadRequest | typeof endRequest): void {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
    this.#worker.postMessage(message);
  }

  #arrive(answers: readonly ThreadAnswer[]): void {
    const isUnderWay = this.#arrived.length > 0;
    this.#arrived.push(...answers);
    if (!isUnderWay) this.#settleSome();
  }

  #settleSome(): void {
    for (const answer of this.#arrived.splice(0, answersAtOnce)) this.#settle(answer);
    if (this.#arrived.length > 0) setImmediate(() => this.#settleSome());
    else if (this.#outstanding.size === 0 && !this.#closing) this.#worker.unref();
  }

  #settle(answer: ThreadAnswer): void {
    const waiting = this.#outstanding.get(answer.id);
    this.#outstanding.delete(answer.id);
    if (answer.ok) waiting?.resolve(answer.value);
    else waiting?.reject(unpackError(answer.error));
  }

  #end(how: string): void {
    this.#gone ??= this.#closing
      ? closed(this.#name)
      : new StoreError('unavailable', `The ${this.#name} is gone (${how}); restart Talaria.`);
    // What it answered before it ended is known.
    for (const answer of this.#arrived.splice(0)) this.#settle(answer);
    for (const waiting of this.#outstanding.values()) waiting.reject(this.#gone);
    this.#outstanding.clear();
  }
}

export function closed(name: string): StoreError {
  return new StoreError('unavailable', `The ${name} is closed; start Talaria again.`);
}
