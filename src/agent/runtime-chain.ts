/**
 * Which runtime a turn asks: the primary, or one of the fallbacks behind it. Falling back lasts for one turn and is
 * nothing but choosing another immutable value, so that no half-restored state can exist.
 */
import { present } from '../lib/assert.ts';
import type { Runtime } from '../models/model.ts';
import type { RuntimeClients } from './runtime-clients.ts';

export class RuntimeChain {
  readonly #runtimes: readonly [Runtime, ...Runtime[]];
  readonly #clients: RuntimeClients;
  #index = 0;

  constructor(runtimes: readonly [Runtime, ...Runtime[]], clients: RuntimeClients) {
    this.#runtimes = runtimes;
    this.#clients = clients;
  }

  get index(): number {
    return this.#index;
  }

  get current(): Runtime {
    return present(this.#runtimes[this.#index], 'a runtime of the chain');
  }

  get primary(): Runtime {
    return this.#runtimes[0];
  }

  get isOnPrimary(): boolean {
    return this.#index === 0;
  }

  /** Whether there is one left to fall back to that is fit. */
  hasNext(isFit: (runtime: Runtime) => boolean): boolean {
    return this.#runtimes.slice(this.#index + 1).some(isFit);
  }

  /** Goes on with the next runtime that is fit; false if there is none, and then nothing changes. */
  fallBack(isFit: (runtime: Runtime) => boolean): boolean {
    const next = this.#runtimes.findIndex((runtime, index) => index > this.#index && isFit(runtime));
    if (next === -1) return false;
    this.#index = next;
    return true;
  }

  /**
   * Back to the primary, the whole chain ahead again. False if it is there already, and if the primary's client can't be
   * built: then the runtime in use stays as it is.
   */
  async restore(): Promise<boolean> {
    if (this.#index === 0) return false;
    try {
      await this.#clients.get(this.#runtimes[0]);
    } catch {
      return false;
    }
    this.#index = 0;
    return true;
  }

  /** A turn that was interrupted goes on with this runtime, if it is still in the chain. */
  resume(isIt: (runtime: Runtime) => boolean): void {
    const index = this.#runtimes.findIndex(isIt);
    if (index !== -1) this.#index = index;
  }
}
