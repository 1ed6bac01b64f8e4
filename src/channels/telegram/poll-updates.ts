/**
 * Long polling. The offset is what confirms: it moves past an update only after the receiver is done with it and with
 * every one before it. It is polled on meanwhile: one that takes long keeps nobody else waiting. Whatever goes wrong,
 * polling goes on, after waits that grow, until the signal aborts; then what was received is confirmed, so that it does
 * not come again.
 */
import { sleep, type Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import type { RandomSource } from '../../lib/random.ts';
import { retryDelayMs } from '../../lib/retry.ts';
import type { Receiver } from './receive-updates.ts';
import type { TelegramApi } from './telegram-api.ts';
import { TelegramError } from './telegram-error.ts';
import type { TelegramTimes } from './telegram-options.ts';
import { UpdateBatches } from './update-batches.ts';

const batchMax = 100;
/** While updates are under way: how often it is asked whether there are others. */
const lookAgainMs = 300;
const confirmTimeoutMs = 3_000;
/** Beyond the time that the platform holds a poll. */
const pollMarginMs = 10_000;
export const wantedUpdates = ['message', 'callback_query'] as const;

export interface PollDeps {
  readonly api: TelegramApi;
  readonly receiver: Receiver;
  readonly clock: Clock;
  readonly log: Log;
  readonly random: RandomSource;
  readonly times: TelegramTimes;
}

/** Never throws. */
export async function pollUpdates(deps: PollDeps, signal: AbortSignal): Promise<void> {
  const trouble = createTrouble(deps, signal);
  const batches = new UpdateBatches();
  let confirmed = 0;
  while (!signal.aborted) {
    try {
      const { offset } = batches;
      // What is not confirmed comes with every poll, so that the platform holds none while there is something.
      const updates = await ask(deps, offset, batches.isUnderWay ? 0 : deps.times.pollS, signal);
      confirmed = offset;
      trouble.over();
      if (!batches.settle()) {
        await trouble.wait();
        continue;
      }
      const fresh = batches.fresh(updates);
      if (fresh.length > 0) batches.begin(fresh, deps.receiver.take(fresh, signal));
      await batches.someEnd(deps.clock, lookAgainMs, signal);
      if (!batches.settle()) await trouble.wait();
    } catch (error) {
      if (!signal.aborted) await trouble.of(error);
    }
  }
  await batches.allEnd();
  batches.settle();
  if (batches.offset !== confirmed) await confirm(deps, batches.offset);
}

function ask({ api }: PollDeps, offset: number, holdS: number, signal: AbortSignal) {
  const query = { offset, limit: batchMax, timeout: holdS, allowed_updates: wantedUpdates };
  return api.call((methods, s) => methods.getUpdates(query, s), signal, holdS * 1_000 + pollMarginMs);
}

async function confirm({ api, log }: PollDeps, offset: number): Promise<void> {
  try {
    const query = { offset, limit: 1, timeout: 0 };
    await api.call((methods, s) => methods.getUpdates(query, s), new AbortController().signal, confirmTimeoutMs);
  } catch (error) {
    log.warn('the last Telegram updates could not be confirmed; they will come again', { error: textOf(error) });
  }
}

interface Trouble {
  of(error: unknown): Promise<void>;
  wait(): Promise<void>;
  over(): void;
}

/** Waits longer with every failure in a row, and says once what is wrong, not every time. */
function createTrouble({ api, clock, log, random, times }: PollDeps, signal: AbortSignal): Trouble {
  const policy = { attemptsMax: 1, firstDelayMs: times.firstDelayMs, delayMaxMs: times.delayMaxMs };
  let failures = 0;
  let said: string | null = null;

  async function wait(atLeastMs = 0): Promise<void> {
    failures += 1;
    await sleep(clock, Math.max(atLeastMs, retryDelayMs(policy, failures, random)), signal).catch(() => {});
  }

  return {
    wait: () => wait(),
    async of(error) {
      const reason = error instanceof TelegramError ? error.reason : 'bug';
      if (said !== reason) log.warn(words(error), { reason });
      said = reason;
      if (reason === 'conflict' && textOf(error).includes('webhook')) await removeWebhook(api, signal);
      await wait(error instanceof TelegramError ? error.retryAfterMs : 0);
    },
    over() {
      if (said !== null) log.info('Telegram is polled again');
      failures = 0;
      said = null;
    },
  };
}

function words(error: unknown): string {
  if (!(error instanceof TelegramError)) return `polling Telegram failed: ${textOf(error)}`;
  if (error.reason === 'conflict' && !error.message.includes('webhook')) {
    return 'another program polls this bot: stop it, or give Talaria a bot of its own; trying again until then';
  }
  return error.message;
}

async function removeWebhook(api: TelegramApi, signal: AbortSignal): Promise<void> {
  try {
    await api.call((methods, s) => methods.deleteWebhook({}, s), signal);
  } catch (error) {
    // It is tried again with the next conflict.
    if (!(error instanceof TelegramError)) throw error;
  }
}

function textOf(error: unknown): string {
  return error instanceof TelegramError ? error.message : error instanceof Error ? error.name : 'unknown';
}
