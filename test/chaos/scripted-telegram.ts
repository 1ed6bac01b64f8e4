/** The run's side of the scripted Telegram: people write there, things go wrong there, and what was shown is read back. */
import { Neighbour } from './neighbour.ts';
import type { Fault } from './platform-book.ts';
import type { HoldPoint, Platform } from './scripted-platform.ts';

export interface TelegramPlace {
  readonly chat: number;
  readonly kind: 'private' | 'supergroup';
  readonly user: number;
}

export type TelegramRequest =
  | { readonly kind: 'address' }
  | { readonly kind: 'write'; readonly place: TelegramPlace; readonly text: string }
  | { readonly kind: 'repeat'; readonly updateId: number }
  | { readonly kind: 'fault'; readonly chat: number; readonly fault: Fault }
  | { readonly kind: 'hold'; readonly hold: { readonly point: HoldPoint; readonly nth: number } | null }
  | { readonly kind: 'report' };

export type TelegramEvent =
  | { readonly kind: 'confirmed'; readonly below: number }
  | { readonly kind: 'held'; readonly point: HoldPoint };

/** A message of the bot as it stands there in the end; what was deleted is not among them. */
export interface TelegramPost {
  readonly chat: number;
  readonly id: number;
  readonly text: string;
  /** Whether it was ever changed. */
  readonly isEdited: boolean;
  /** Whether it came with markup, as answers do; drafts are plain. */
  readonly isMarkedUp: boolean;
  /** When it came. */
  readonly at: number;
  /** Whether a fault kept its id from the bot. */
  readonly isUnheard: boolean;
}

export interface TelegramReport {
  readonly posts: readonly TelegramPost[];
  readonly problems: readonly string[];
}

export class ScriptedTelegram implements Platform {
  onHeld: (point: HoldPoint) => void = () => {};
  readonly #neighbour: Neighbour;
  readonly #waiting = new Set<() => void>();
  #confirmedBelow = 0;

  /** `journal`: a file that gets a line for everything that the bot does. */
  constructor(journal: string) {
    const onEvent = (event: unknown) => this.#take(event as TelegramEvent);
    this.#neighbour = new Neighbour({ script: 'telegram-main.ts', env: { TELEGRAM_JOURNAL: journal }, onEvent });
  }

  async address(): Promise<{ readonly url: string; readonly token: string }> {
    return (await this.#ask({ kind: 'address' })) as { readonly url: string; readonly token: string };
  }

  /** Resolves, with the update's id, once the platform has forgotten the update because a later offset was asked for. */
  async write(place: TelegramPlace, text: string, signal: AbortSignal): Promise<number> {
    const updateId = (await this.#ask({ kind: 'write', place, text })) as number;
    await this.#confirmed(updateId, signal);
    return updateId;
  }

  /** The platform has lost the confirmation of this update. */
  async repeat(updateId: number): Promise<void> {
    await this.#ask({ kind: 'repeat', updateId });
  }

  async fault(chat: number, fault: Fault): Promise<void> {
    await this.#ask({ kind: 'fault', chat, fault });
  }

  async hold(hold: { readonly point: HoldPoint; readonly nth: number } | null): Promise<void> {
    await this.#ask({ kind: 'hold', hold });
  }

  /** Here everything is waited for. */
  troubled(): Promise<number> {
    return Promise.resolve(0);
  }

  async report(): Promise<TelegramReport> {
    return (await this.#ask({ kind: 'report' })) as TelegramReport;
  }

  end(): Promise<void> {
    return this.#neighbour.end();
  }

  #confirmed(updateId: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const look = () => {
        if (this.#confirmedBelow <= updateId && !signal.aborted) return;
        this.#waiting.delete(look);
        signal.removeEventListener('abort', look);
        if (signal.aborted) reject(signal.reason as Error);
        else resolve();
      };
      this.#waiting.add(look);
      signal.addEventListener('abort', look);
      look();
    });
  }

  #ask(request: TelegramRequest): Promise<unknown> {
    return this.#neighbour.ask(request);
  }

  #take(event: TelegramEvent): void {
    if (event.kind === 'held') return this.onHeld(event.point);
    this.#confirmedBelow = Math.max(this.#confirmedBelow, event.below);
    for (const look of this.#waiting) look();
  }
}
