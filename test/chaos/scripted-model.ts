/** The run's side of the scripted model server: where it is, what goes wrong there, and what it turned down. */
import type { Protocol } from '../model-server/dialect.ts';
import type { FaultOrder } from '../model-server/faults/fault-queue.ts';
import { Neighbour } from './neighbour.ts';

/** Base URLs. */
export type ModelAddresses = Readonly<Record<Protocol, string>>;

export type ModelRequest =
  | { readonly kind: 'addresses' }
  | { readonly kind: 'fault'; readonly order: FaultOrder }
  | { readonly kind: 'report' };

export interface ModelReport {
  readonly requests: number;
  readonly faults: number;
  /** Requests that no provider would have taken, with what is wrong with them. */
  readonly rejected: readonly string[];
}

export class ScriptedModel {
  readonly #neighbour = new Neighbour({ script: 'model-main.ts' });

  async addresses(): Promise<ModelAddresses> {
    return (await this.#ask({ kind: 'addresses' })) as ModelAddresses;
  }

  async fault(order: FaultOrder): Promise<void> {
    await this.#ask({ kind: 'fault', order });
  }

  async report(): Promise<ModelReport> {
    return (await this.#ask({ kind: 'report' })) as ModelReport;
  }

  end(): Promise<void> {
    return this.#neighbour.end();
  }

  #ask(request: ModelRequest): Promise<unknown> {
    return this.#neighbour.ask(request);
  }
}
