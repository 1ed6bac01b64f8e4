/** What a Telegram channel is made of, and how long it waits for what. */
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import type { RandomSource } from '../../lib/random.ts';

export interface TelegramOptions {
  readonly name?: string;
  readonly token: string;
  /** Without it: Telegram's own. */
  readonly apiRoot?: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly random?: RandomSource;
  /** Updates are posted here instead of being polled for. */
  readonly webhook?: TelegramWebhook;
  readonly times?: Partial<TelegramTimes>;
}

export interface TelegramWebhook {
  /** Where Telegram reaches `handleWebhook`: a public https address. */
  readonly url: string;
  /** 1 to 256 letters, digits, _ and -. */
  readonly secret: string;
}

export interface TelegramTimes {
  /** How long the platform holds a poll when there is nothing. */
  readonly pollS: number;
  readonly requestTimeoutMs: number;
  readonly downloadTimeoutMs: number;
  readonly uploadTimeoutMs: number;
  /** How long a delivery under way may go on after it was told to end: then its outcome is known. */
  readonly graceMs: number;
  /** How long the next picture of an album is waited for. */
  readonly albumWaitMs: number;
  /** Waits after failures: the first, and the longest. */
  readonly firstDelayMs: number;
  readonly delayMaxMs: number;
  /** The least time between two changes of a draft, in a private chat and in a group (20 a minute is the limit there). */
  readonly editEveryMs: number;
  readonly groupEditEveryMs: number;
}

export const defaultApiRoot = 'https://api.telegram.org';

export const defaultTimes: TelegramTimes = {
  pollS: 30,
  requestTimeoutMs: 20_000,
  downloadTimeoutMs: 60_000,
  uploadTimeoutMs: 180_000,
  graceMs: 2_000,
  albumWaitMs: 700,
  firstDelayMs: 1_000,
  delayMaxMs: 20_000,
  editEveryMs: 1_000,
  groupEditEveryMs: 3_000,
};
