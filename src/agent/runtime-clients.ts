/**
 * The model clients of an agent, one per runtime: built at the first use, closed exactly once. Building may fail; that
 * says nothing about the other runtimes.
 */
import type { Model, OpenModel, Runtime } from '../models/model.ts';

export class RuntimeClients {
  readonly #open: OpenModel;
  readonly #clients = new Map<Runtime, Promise<Model>>();
  #isClosed = false;

  constructor(open: OpenModel) {
    this.#open = open;
  }

  /** Throws a `ModelError` if the client can't be built; the next call tries again. */
  async get(runtime: Runtime): Promise<Model> {
    const known = this.#clients.get(runtime);
    if (known !== undefined) return known;
    const isLate = this.#isClosed;
    const opening = this.#open(runtime);
    if (!isLate) this.#clients.set(runtime, opening);
    try {
      const client = await opening;
      // Everything was closed before it was asked for: nobody else will close it.
      if (isLate) client.close();
      return client;
    } catch (error) {
      if (this.#clients.get(runtime) === opening) this.#clients.delete(runtime);
      throw error;
    }
  }

  /** Closes the client, then builds another; false if that fails, and then the next use builds it. */
  async rebuild(runtime: Runtime): Promise<boolean> {
    const old = this.#clients.get(runtime);
    this.#clients.delete(runtime);
    await closed(old);
    try {
      await this.get(runtime);
      return true;
    } catch {
      return false;
    }
  }

  /** Idempotent. A client that is asked for afterwards is built and closed at once. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const clients = [...this.#clients.values()];
    this.#clients.clear();
    await Promise.all(clients.map(closed));
  }
}

async function closed(client: Promise<Model> | undefined): Promise<void> {
  try {
    (await client)?.close();
  } catch {
    // It was never built: there is nothing to close.
  }
}
