/** Whether a token is one, for whoever has just pasted it. */
import { systemClock, type Clock } from '../../lib/clock.ts';
import { createTelegramApi } from './telegram-api.ts';
import { TelegramError, unknownToken } from './telegram-error.ts';
import { defaultApiRoot } from './telegram-options.ts';

const timeoutMs = 15_000;

export type TokenCheck =
  | { readonly ok: true; readonly botName: string }
  /** `text`: what is wrong and what to do, in a sentence. */
  | { readonly ok: false; readonly text: string };

/** Never throws. */
export async function checkTelegramToken(
  token: string,
  apiRoot: string = defaultApiRoot,
  clock: Clock = systemClock,
): Promise<TokenCheck> {
  if (!isTokenShaped(token)) {
    return { ok: false, text: 'That is no token of Telegram: it looks like 123456789:AA… and comes from @BotFather.' };
  }
  try {
    const api = createTelegramApi({ token, apiRoot, clock, requestTimeoutMs: timeoutMs });
    const { username } = await api.call((methods, signal) => methods.getMe(signal), new AbortController().signal);
    return { ok: true, botName: username };
  } catch (error) {
    if (!(error instanceof TelegramError)) throw error;
    if (error.reason === 'unauthorized') return { ok: false, text: unknownToken };
    return { ok: false, text: `${error.message}: check the connection and try again.` };
  }
}

export function isTokenShaped(token: string): boolean {
  return /^\d{1,20}:[\w-]{1,200}$/.test(token);
}
