/**
 * Work in progress on Telegram: the typing sign, and drafts that are edited in place, as plain text because half a
 * message has half its markup. What the platform does not want now is left out; only a draft that could not be taken away
 * is worth an error.
 */
import type { Log } from '../../lib/log.ts';
import type { LiveDisplay } from '../channel.ts';
import type { ChatPace } from './chat-pace.ts';
import { messageCharsMax } from './deliver-message.ts';
import { addressOf, isGroup, parseTarget, type TelegramTarget } from './target.ts';
import type { TelegramApi } from './telegram-api.ts';
import { TelegramError } from './telegram-error.ts';
import { cleanText } from './telegram-html.ts';
import type { TelegramTimes } from './telegram-options.ts';

/** How long the platform shows that somebody is typing. */
const typingMs = 5_000;

export interface LiveDeps {
  readonly api: TelegramApi;
  readonly pace: ChatPace;
  readonly log: Log;
  readonly times: TelegramTimes;
}

export function createLiveDisplay({ api, pace, log, times }: LiveDeps): LiveDisplay {
  /** Null if it did not work out. */
  async function attempt<Result>(
    target: TelegramTarget,
    perform: () => Promise<Result>,
    unchanged: Result | null = null,
  ): Promise<Result | null> {
    try {
      return await perform();
    } catch (error) {
      if (!(error instanceof TelegramError)) throw error;
      if (error.reason === 'limited') pace.quiet(target.chat, error.retryAfterMs);
      if (/message is not modified/i.test(error.message)) return unchanged;
      log.debug('a draft was not shown', { reason: error.reason });
      return null;
    }
  }

  return {
    editEveryMs: times.editEveryMs,
    turnInMs(target) {
      const to = parseTarget(target);
      return to === null ? 0 : pace.turnInMs(to.chat, isGroup(to) ? times.groupEditEveryMs : times.editEveryMs);
    },
    typingMs,
    async typing(target, signal) {
      const to = parseTarget(target);
      if (to === null || pace.isQuiet(to.chat)) return;
      const action = { ...addressOf(to), action: 'typing' } as const;
      await attempt(to, () => api.call((methods, s) => methods.sendChatAction(action, s), signal));
    },
    async draft(target, text, platformId, signal) {
      const to = parseTarget(target);
      if (to === null || pace.isQuiet(to.chat)) return null;
      const shown = cleanText(text).slice(0, messageCharsMax).toWellFormed();
      if (shown.trim() === '') return platformId;
      const content = { text: shown, link_preview_options: { is_disabled: true } };
      if (platformId === null) {
        // Not silent: the answer is an edit of it, and an edit rings nobody's bell.
        const message = { ...addressOf(to), ...content };
        return attempt(to, async () =>
          String((await api.call((methods, s) => methods.sendMessage(message, s), signal)).message_id),
        );
      }
      const edit = { chat_id: to.chat, message_id: Number(platformId), ...content };
      const perform = async () => {
        await api.call((methods, s) => methods.editMessageText(edit, s), signal);
        return platformId;
      };
      return attempt(to, perform, platformId);
    },
    async remove(target, platformId, signal) {
      const to = parseTarget(target);
      if (to === null) return;
      const message = { chat_id: to.chat, message_id: Number(platformId) };
      try {
        await api.call((methods, s) => methods.deleteMessage(message, s), signal);
      } catch (error) {
        if (!(error instanceof TelegramError) || error.retryable) throw error;
        // It is gone already, or nobody lets us.
        log.debug('a draft was not removed', { reason: error.reason });
      }
    },
  };
}
