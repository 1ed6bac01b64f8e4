/**
 * Runs what concerns the same thing one after the other, in the order in which it came; other things run side by side.
 * Nothing is kept of what is done, and what fails stands in nobody's way.
 */
export class OneAtATime {
  /** The newest of each name; never rejects. */
  readonly #last = new Map<string, Promise<unknown>>();

  run<T>(name: string, action: () => Promise<T>): Promise<T> {
    const result = (this.#last.get(name) ?? Promise.resolve()).then(action);
    const done: Promise<void> = result
      .catch(() => {})
      .then(() => {
        if (this.#last.get(name) === done) this.#last.delete(name);
      });
    this.#last.set(name, done);
    return result;
  }
}
