/**
 * Which request a fault strikes: the next ones that fit the order, as often as it says. An order without a phase strikes at
 * the first that its fault has.
 */
import type { Protocol } from '../dialect.ts';
import type { Fault, FaultOptions, Phase } from './fault.ts';
import { findFault } from './faults.ts';

const ordersMax = 1_000;
const retryAfterS = 1;
const delayMs = 300;

export interface FaultOrder {
  readonly name: string;
  readonly phase?: Phase;
  /** How many requests; null: all from now on. By default one. */
  readonly times?: number | null;
  /** Only requests like these; `key` is the secret that was sent. */
  readonly protocol?: Protocol;
  readonly model?: string;
  readonly key?: string;
  readonly retryAfterS?: number;
  readonly delayMs?: number;
}

export interface Struck {
  readonly fault: Fault;
  readonly phase: Phase;
  readonly options: FaultOptions;
}

/** What there is to know of a request when it is decided whether a fault strikes it. */
export interface Target {
  readonly protocol: Protocol;
  readonly model: string;
  readonly key: string;
  readonly followsResults: boolean;
  readonly callsTools: boolean;
}

export class FaultQueue {
  #orders: (Struck & { order: FaultOrder; left: number })[] = [];

  /** Throws if there is no such fault or it can't strike there. */
  add(order: FaultOrder): Struck {
    const fault = findFault(order.name);
    if (fault === null) throw new Error(`there is no fault ${order.name}`);
    const phase = order.phase ?? fault.phases[0];
    if (phase === undefined || !fault.phases.includes(phase)) {
      throw new Error(`${order.name} strikes at ${fault.phases.join(', ')}, not at ${phase}`);
    }
    if (this.#orders.length >= ordersMax) throw new Error('too many faults');
    const options = { retryAfterS: order.retryAfterS ?? retryAfterS, delayMs: order.delayMs ?? delayMs };
    const struck = { fault, phase, options };
    const { times = 1 } = order;
    if (fault.effect.kind !== 'refused') {
      this.#orders.push({ ...struck, order, left: times ?? Number.POSITIVE_INFINITY });
    }
    return struck;
  }

  /** The fault that strikes this request, which then counts. */
  take(target: Target): Struck | null {
    const hit = this.#orders.find((entry) => entry.left > 0 && fits(entry, target));
    if (hit === undefined) return null;
    hit.left -= 1;
    this.#orders = this.#orders.filter(({ left }) => left > 0);
    return hit;
  }

  get waiting(): number {
    return this.#orders.length;
  }

  clear(): void {
    this.#orders = [];
  }
}

function fits({ fault, phase, order }: Struck & { order: FaultOrder }, target: Target): boolean {
  if (order.protocol !== undefined && order.protocol !== target.protocol) return false;
  if (order.model !== undefined && order.model !== target.model) return false;
  if (order.key !== undefined && order.key !== target.key) return false;
  if (fault.protocols !== undefined && !fault.protocols.includes(target.protocol)) return false;
  if (phase !== 'after-tool-call') return true;
  return fault.effect.kind === 'line' ? target.callsTools : target.followsResults;
}
