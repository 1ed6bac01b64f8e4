/**
 * Telegram as a channel: puts the parts together and owns their life. Delivering works before it is started and after it
 * is stopped; only taking messages begins and ends. A platform that can't be reached at the start does not stop the
 * program: it is tried again until it can. A wrong token does.
 */
import { problem, type HttpRequest, type HttpResponse } from '../../http/http-message.ts';
import { sleep } from '../../lib/clock.ts';
import { systemRandom } from '../../lib/random.ts';
import { retryDelayMs } from '../../lib/retry.ts';
import type { Channel, ChannelPort, MenuEntry, PressAnswer } from '../channel.ts';
import { createChatPace } from './chat-pace.ts';
import { connect, respelt, showMenu } from './connect.ts';
import { deliverMessage } from './deliver-message.ts';
import { fetchFile } from './fetch-file.ts';
import type { BotIdentity } from './is-addressed.ts';
import { createLiveDisplay } from './live-display.ts';
import { pollUpdates } from './poll-updates.ts';
import type { ReadUpdate } from './read-update.ts';
import { createReceiver, type Receiver } from './receive-updates.ts';
import { parseTarget, addressOf } from './target.ts';
import { createTelegramApi, type Methods, type TelegramApi } from './telegram-api.ts';
import { TelegramError } from './telegram-error.ts';
import { defaultApiRoot, defaultTimes, type TelegramOptions } from './telegram-options.ts';
import { answerWebhook } from './webhook.ts';

/**
 * Below Telegram's 4,096, with room for what rendering adds. A text that grows beyond it all the same goes out as it was
 * written, which always fits.
 */
const textCharsMax = 3_900;
/** Of Telegram's 1,024. */
const captionCharsMax = 1_000;
const wordCharsMax = 200;
const asideTimeoutMs = 5_000;

export interface TelegramChannel extends Channel {
  /** What is posted to the webhook's address. Throws an `HttpProblem` for a body that can't be read. */
  handleWebhook(request: HttpRequest): Promise<HttpResponse>;
}

export function createTelegramChannel(options: TelegramOptions): TelegramChannel {
  const { name = 'telegram', token, clock, random = systemRandom, webhook = null } = options;
  const log = options.log.with({ channel: name });
  const apiRoot = (options.apiRoot ?? defaultApiRoot).replace(/\/+$/, '');
  const times = { ...defaultTimes, ...options.times };
  const api = createTelegramApi({ token, apiRoot, clock, requestTimeoutMs: times.requestTimeoutMs });
  const pace = createChatPace(clock);
  const stopping = new AbortController();
  const underWay = new Set<Promise<unknown>>();
  let starting: Promise<void> | null = null;
  let receiver: Receiver | null = null;

  const track = <Result>(work: Promise<Result>): Promise<Result> => {
    underWay.add(work);
    const forget = () => underWay.delete(work);
    work.then(forget, forget);
    return work;
  };

  function receiverFor(port: ChannelPort, menu: readonly MenuEntry[], bot: BotIdentity): Receiver {
    return createReceiver({
      port,
      read: { channel: name, bot, respelt: respelt(menu) },
      clock,
      log,
      albumWaitMs: times.albumWaitMs,
      fetchFile: (file, signal) => fetchFile({ token, apiRoot, api, clock, random, times }, file, signal),
      tell: (target, text) => track(tell(api, target, text)),
      settlePress: (press, answer) => settlePress(api, press, answer),
    });
  }

  /** Until it works, or there is no use in trying. */
  async function connectAgain(signal: AbortSignal): Promise<BotIdentity | null> {
    const policy = { attemptsMax: 1, firstDelayMs: times.firstDelayMs, delayMaxMs: times.delayMaxMs };
    for (let failures = 1; !signal.aborted; failures += 1) {
      await sleep(clock, retryDelayMs(policy, failures, random), signal).catch(() => {});
      try {
        return await connect({ api, webhook }, signal);
      } catch (error) {
        if (!(error instanceof TelegramError)) throw error;
        if (!error.retryable) {
          log.error(error.message);
          return null;
        }
      }
    }
    return null;
  }

  async function run(port: ChannelPort, menu: readonly MenuEntry[], known: BotIdentity | null): Promise<void> {
    const { signal } = stopping;
    const bot = known ?? (await connectAgain(signal));
    if (bot === null || signal.aborted) return;
    log.info('Telegram is connected', { bot: bot.username, by: webhook === null ? 'polling' : 'webhook' });
    receiver = receiverFor(port, menu, bot);
    void track(showMenu({ api, log, clock, random, times, signal }, menu));
    if (webhook === null) await pollUpdates({ api, receiver, clock, log, random, times }, signal);
  }

  async function start(port: ChannelPort, menu: readonly MenuEntry[]): Promise<void> {
    let bot: BotIdentity | null = null;
    try {
      bot = await connect({ api, webhook }, stopping.signal);
    } catch (error) {
      if (!(error instanceof TelegramError) || !error.retryable) throw error;
      if (error.reason !== 'stopped') log.warn(`${error.message}; trying again until it can be`);
    }
    void track(run(port, menu, bot)).catch((error: unknown) => log.error('the Telegram channel has ended', { error }));
  }

  return {
    name,
    limits: { textCharsMax, captionCharsMax, dedupes: false },
    live: createLiveDisplay({ api, pace, log, times }),
    start: (port, menu) => (starting ??= start(port, menu)),
    async stop() {
      stopping.abort(new Error('the channel stops'));
      await starting?.catch(() => {});
      while (underWay.size > 0) await Promise.allSettled(underWay);
    },
    targetProblem(target) {
      if (parseTarget(target) !== null) return null;
      return `${JSON.stringify(target)} is no chat of Telegram: give its number, CHAT/TOPIC for a topic, or the @name of a public one.`;
    },
    deliver: (delivery, signal) => deliverMessage({ api, clock, pace, ...times }, delivery, signal),
    handleWebhook(request) {
      if (webhook === null) return Promise.resolve(problem(404, 'not-found', 'There is no webhook here.'));
      const taking = stopping.signal.aborted ? null : receiver;
      return track(answerWebhook(request, webhook.secret, taking, stopping.signal));
    },
  };
}

/** Tells the one who pressed, and takes the buttons away if they are of no more use. Both are only for the eye. */
async function settlePress(
  api: TelegramApi,
  { queryId, chat, messageId }: Extract<ReadUpdate, { kind: 'press' }>,
  { text: word, settled }: PressAnswer,
): Promise<void> {
  const answer = { callback_query_id: queryId, text: word.slice(0, wordCharsMax).toWellFormed() };
  const message = { chat_id: chat, message_id: messageId };
  await Promise.all([
    aside(api, (methods, signal) => methods.answerCallbackQuery(answer, signal)),
    settled ? aside(api, (methods, signal) => methods.editMessageReplyMarkup(message, signal)) : null,
  ]);
}

async function tell(api: TelegramApi, target: string, text: string): Promise<void> {
  const to = parseTarget(target);
  if (to === null) return;
  await aside(api, (methods, signal) => methods.sendMessage({ ...addressOf(to), text }, signal));
}

type Signal = Parameters<Methods['getMe']>[0];

/** Does what may just as well fail. */
async function aside(api: TelegramApi, perform: (methods: Methods, signal: Signal) => Promise<unknown>): Promise<void> {
  try {
    await api.call(perform, new AbortController().signal, asideTimeoutMs);
  } catch (error) {
    if (!(error instanceof TelegramError)) throw error;
  }
}
