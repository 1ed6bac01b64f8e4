/**
 * First in, first out, never longer than its limit. Offering to a full queue says so at once instead of waiting:
 * what happens to the refused item is the producer's decision.
 */
export class BoundedQueue<T> implements AsyncIterable<T> {
  readonly limit: number;
  #items: T[] = [];
  #waiting: ((result: IteratorResult<T, undefined>) => void)[] = [];
  #closed = false;

  constructor(limit: number) {
    if (!Number.isInteger(limit) || limit < 1) throw new RangeError(`a queue's limit is a whole number of at least 1`);
    this.limit = limit;
  }

  get size(): number {
    return this.#items.length;
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** False if the queue is full or closed; the item was not taken then. */
  offer(item: T): boolean {
    if (this.#closed) return false;
    const taker = this.#waiting.shift();
    if (taker !== undefined) {
      taker({ done: false, value: item });
      return true;
    }
    if (this.#items.length >= this.limit) return false;
    this.#items.push(item);
    return true;
  }

  /** No more items come; those inside are still handed out. */
  close(): void {
    this.#closed = true;
    for (const taker of this.#waiting.splice(0)) taker({ done: true, value: undefined });
  }

  next(): Promise<IteratorResult<T, undefined>> {
    if (this.#items.length > 0) return Promise.resolve({ done: false, value: this.#items.shift() as T });
    if (this.#closed) return Promise.resolve({ done: true, value: undefined });
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  [Symbol.asyncIterator](): AsyncIterator<T, undefined> {
    return {
      next: () => this.next(),
      return: () => {
        this.close();
        this.#items = [];
        return Promise.resolve({ done: true, value: undefined });
      },
    };
  }
}
