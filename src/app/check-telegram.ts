/** Whether Telegram knows a token, for the set-up and the doctor. */
import { checkTelegramToken } from '../channels/telegram/check-telegram-token.ts';

export function checkTelegram(token: string, apiRoot: string): ReturnType<typeof checkTelegramToken> {
  return checkTelegramToken(token, apiRoot);
}
