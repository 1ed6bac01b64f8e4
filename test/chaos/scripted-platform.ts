/** The run's side of the scripted platform: writes there as people do, orders its faults, and reads what it has seen. */
import { Neighbour } from './neighbour.ts';
import type { Acknowledgement, ChatKind, Fault, Post, Written } from './platform-book.ts';

/** Where a request of the gateway is left without an answer: an acknowledgement before it is noted, a post before it is kept, and after. */
export const holdPoints = ['acknowledging', 'posting', 'posted'] as const;
/** `drafted`: a new draft after it is kept; only where there are drafts. */
export type HoldPoint = (typeof holdPoints)[number] | 'drafted';

/** What the run needs of a platform, whichever it is. */
export interface Platform {
  /** Called when a request is held. */
  onHeld: (point: HoldPoint) => void;
  /** Leaves the n-th request that comes to this point without an answer; null takes that back. */
  hold(hold: { readonly point: HoldPoint; readonly nth: number } | null): Promise<void>;
  /** How many posts the gateway has to try again, seconds later, because a fault met them. */
  troubled(): Promise<number>;
  end(): Promise<void>;
}

export type PlatformRequest =
  | { readonly kind: 'address' }
  | { readonly kind: 'write'; readonly chatKind: ChatKind; readonly message: Written }
  | { readonly kind: 'fault'; readonly chat: string; readonly fault: Fault }
  | { readonly kind: 'hold'; readonly hold: { readonly point: HoldPoint; readonly nth: number } | null }
  | { readonly kind: 'troubled' }
  | { readonly kind: 'report' };

export type PlatformEvent =
  | ({ readonly kind: 'acknowledged' } & Acknowledgement)
  | { readonly kind: 'held'; readonly point: HoldPoint };

export interface PlatformReport {
  readonly posts: readonly Post[];
  readonly problems: readonly string[];
}

export class ScriptedPlatform implements Platform {
  onHeld: (point: HoldPoint) => void = () => {};
  readonly #neighbour: Neighbour;
  readonly #awaited = new Map<string, (acknowledgement: Acknowledgement) => void>();

  constructor() {
    const onEvent = (event: unknown) => this.#take(event as PlatformEvent);
    this.#neighbour = new Neighbour({ script: 'platform-main.ts', onEvent });
  }

  address(): Promise<string> {
    return this.#ask({ kind: 'address' }) as Promise<string>;
  }

  /** Resolves once the gateway has acknowledged it; writing the same id again is the platform repeating itself. */
  async write(chatKind: ChatKind, message: Written, signal: AbortSignal): Promise<Acknowledgement> {
    const { promise, resolve, reject } = Promise.withResolvers<Acknowledgement>();
    const giveUp = () => reject(signal.reason as Error);
    signal.addEventListener('abort', giveUp);
    this.#awaited.set(message.externalId, resolve);
    try {
      await this.#ask({ kind: 'write', chatKind, message });
      return await promise;
    } finally {
      this.#awaited.delete(message.externalId);
      signal.removeEventListener('abort', giveUp);
    }
  }

  async fault(chat: string, fault: Fault): Promise<void> {
    await this.#ask({ kind: 'fault', chat, fault });
  }

  async hold(hold: { readonly point: HoldPoint; readonly nth: number } | null): Promise<void> {
    await this.#ask({ kind: 'hold', hold });
  }

  async troubled(): Promise<number> {
    return (await this.#ask({ kind: 'troubled' })) as number;
  }

  async report(): Promise<PlatformReport> {
    return (await this.#ask({ kind: 'report' })) as PlatformReport;
  }

  end(): Promise<void> {
    return this.#neighbour.end();
  }

  #ask(request: PlatformRequest): Promise<unknown> {
    return this.#neighbour.ask(request);
  }

  #take(event: PlatformEvent): void {
    if (event.kind === 'held') this.onHeld(event.point);
    else this.#awaited.get(event.externalId)?.(event);
  }
}
