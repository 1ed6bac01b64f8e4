/** The first words with the platform: who the bot is, how updates come, and what its menu shows. */
import type { Log } from '../../lib/log.ts';
import { retry, type RetryDeps } from '../../lib/retry.ts';
import type { MenuEntry } from '../channel.ts';
import type { BotIdentity } from './is-addressed.ts';
import { wantedUpdates } from './poll-updates.ts';
import type { TelegramApi } from './telegram-api.ts';
import { TelegramError } from './telegram-error.ts';
import type { TelegramTimes, TelegramWebhook } from './telegram-options.ts';

const menuMax = 100;
const menuAttemptsMax = 5;
const summaryCharsMax = 256;

export interface ConnectDeps {
  readonly api: TelegramApi;
  readonly webhook: TelegramWebhook | null;
}

/** Throws a `TelegramError`. Idempotent. */
export async function connect({ api, webhook }: ConnectDeps, signal: AbortSignal): Promise<BotIdentity> {
  const { id, username } = await api.call((methods, s) => methods.getMe(s), signal);
  if (webhook === null) {
    await api.call((methods, s) => methods.deleteWebhook({}, s), signal);
  } else {
    const { url, secret } = webhook;
    const order = { url, secret_token: secret, allowed_updates: wantedUpdates };
    await api.call((methods, s) => methods.setWebhook(order, s), signal);
  }
  return { id, username };
}

export interface MenuDeps extends RetryDeps {
  readonly api: TelegramApi;
  readonly log: Log;
  readonly times: TelegramTimes;
}

/** Never throws: a bot without a menu works all the same. */
export async function showMenu(deps: MenuDeps, menu: readonly MenuEntry[]): Promise<void> {
  const { api, log, times, signal } = deps;
  const commands = menu
    .map(({ name, summary }) => ({ command: spelt(name), description: summary.slice(0, summaryCharsMax) || name }))
    .filter(({ command }) => /^[a-z0-9_]{1,32}$/.test(command))
    .slice(0, menuMax);
  const policy = { attemptsMax: menuAttemptsMax, firstDelayMs: times.firstDelayMs, delayMaxMs: times.delayMaxMs };
  const isWorthIt = (error: unknown) => error instanceof TelegramError && error.retryable;
  try {
    await retry(deps, policy, isWorthIt, () =>
      api.call((methods, s) => methods.setMyCommands({ commands }, s), signal),
    );
  } catch (error) {
    if (signal.aborted) return;
    if (!(error instanceof TelegramError)) throw error;
    log.warn('the menu of commands can not be shown on Telegram', { error: error.message });
  }
}

/** Telegram knows no hyphens in commands. */
export function spelt(command: string): string {
  return command.toLowerCase().replaceAll('-', '_');
}

/** From Telegram's spelling to ours, where they differ. Its own first word, which a button sends, asks for help. */
export function respelt(menu: readonly MenuEntry[]): ReadonlyMap<string, string> {
  const others = menu.filter(({ name }) => spelt(name) !== name).map(({ name }) => [spelt(name), name] as const);
  return new Map([['start', 'help'], ...others]);
}
