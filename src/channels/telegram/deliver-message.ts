/**
 * Sends one delivery, or makes its draft into it. The markup is Telegram's HTML; where the platform refuses that, the text
 * goes out as it was written. Never throws: what is known of the message is the outcome, and no more than that.
 */
import type { InlineKeyboardMarkup } from 'grammy/types';
import type { Clock } from '../../lib/clock.ts';
import type { Button, Delivery, DeliveryOutcome } from '../channel.ts';
import type { ChatPace } from './chat-pace.ts';
import { sendFile } from './send-file.ts';
import { addressOf, parseTarget, type TelegramTarget } from './target.ts';
import type { TelegramApi } from './telegram-api.ts';
import { TelegramError } from './telegram-error.ts';
import { cleanText, toTelegramHtml } from './telegram-html.ts';

export const messageCharsMax = 4_096;
export const captionCharsMax = 1_024;
const buttonValueBytesMax = 64;
const buttonLabelCharsMax = 60;
/** Labels that are shorter than this in all stand side by side. */
const rowCharsMax = 30;

export interface DeliverDeps {
  readonly api: TelegramApi;
  readonly clock: Clock;
  readonly pace: ChatPace;
  readonly graceMs: number;
  readonly uploadTimeoutMs: number;
}

export async function deliverMessage(
  deps: DeliverDeps,
  delivery: Delivery,
  signal: AbortSignal,
): Promise<DeliveryOutcome> {
  const target = parseTarget(delivery.target);
  if (target === null) return { kind: 'failed', error: `${JSON.stringify(delivery.target)} is no chat of Telegram` };
  if (signal.aborted) return { kind: 'retry', afterMs: 0, error: 'stopped', notSent: true };
  const grace = graceAfter(deps, signal);
  try {
    return { kind: 'sent', platformId: await post(deps, target, delivery, grace.signal) };
  } catch (error) {
    if (!(error instanceof TelegramError)) throw error;
    if (error.reason === 'limited') deps.pace.quiet(target.chat, error.retryAfterMs);
    return outcomeOf(error);
  } finally {
    grace.end();
  }
}

function outcomeOf(error: TelegramError): DeliveryOutcome {
  // A wrong token is put right by somebody, and until then nothing is lost.
  if (!error.retryable && error.reason !== 'unauthorized') return { kind: 'failed', error: error.message };
  const certainty = error.notDone ? { notSent: true as const } : {};
  return { kind: 'retry', afterMs: error.retryAfterMs, error: error.message, ...certainty };
}

/** Aborts a while after the signal did: a request under way mostly ends in that time, and then it is known how. */
function graceAfter({ clock, graceMs }: DeliverDeps, signal: AbortSignal): { signal: AbortSignal; end: () => void } {
  const cut = new AbortController();
  let cancel = () => {};
  const begin = () => {
    cancel = clock.setTimer(graceMs, () => cut.abort());
  };
  signal.addEventListener('abort', begin, { once: true });
  const end = () => {
    signal.removeEventListener('abort', begin);
    cancel();
  };
  return { signal: cut.signal, end };
}

/** The platform's id of the message. */
async function post(
  deps: DeliverDeps,
  target: TelegramTarget,
  delivery: Delivery,
  signal: AbortSignal,
): Promise<string> {
  try {
    return await postMarkedUp(deps, target, delivery, signal);
  } catch (error) {
    if (!(error instanceof TelegramError) || error.movedTo === null) throw error;
    return postMarkedUp(deps, { chat: error.movedTo, thread: null }, { ...delivery, replaces: null }, signal);
  }
}

async function postMarkedUp(
  deps: DeliverDeps,
  target: TelegramTarget,
  delivery: Delivery,
  signal: AbortSignal,
): Promise<string> {
  const { html, visible } = toTelegramHtml(delivery.text);
  if (visible.trim() !== '' && visible.length <= (delivery.file === null ? messageCharsMax : captionCharsMax)) {
    try {
      return await put(deps, target, delivery, { text: html, parse_mode: 'HTML' }, signal);
    } catch (error) {
      if (!isAbout(error, /entit|too[ _]long/i)) throw error;
    }
  }
  return put(deps, target, delivery, { text: cleanText(delivery.text) }, signal);
}

interface Content {
  readonly text: string;
  readonly parse_mode?: 'HTML';
}

async function put(
  deps: DeliverDeps,
  target: TelegramTarget,
  { replaces, buttons, file }: Delivery,
  content: Content,
  signal: AbortSignal,
): Promise<string> {
  const { api } = deps;
  const keyboard = keyboardOf(buttons);
  const markup = keyboard === null ? {} : { reply_markup: keyboard };
  if (file !== null) {
    const { text: caption, ...manner } = content;
    return sendFile(deps, target, file, { ...(caption === '' ? {} : { caption, ...manner }), ...markup }, signal);
  }
  const options = { ...content, link_preview_options: { is_disabled: true }, ...markup };
  if (replaces !== null) {
    try {
      const edit = { chat_id: target.chat, message_id: Number(replaces), ...options };
      await api.call((methods, s) => methods.editMessageText(edit, s), signal);
      return replaces;
    } catch (error) {
      // It already says this: an earlier attempt whose answer was lost.
      if (isAbout(error, /message is not modified/i)) return replaces;
      // Somebody has deleted the draft.
      if (!isAbout(error, /message to edit not found|message can't be edited|MESSAGE_ID_INVALID/i)) throw error;
    }
  }
  const sent = await api.call((methods, s) => methods.sendMessage({ ...addressOf(target), ...options }, s), signal);
  return String(sent.message_id);
}

function isAbout(error: unknown, words: RegExp): boolean {
  return error instanceof TelegramError && error.reason === 'bad-request' && words.test(error.message);
}

/** Short ones side by side, long ones one below the other. */
function keyboardOf(buttons: readonly Button[]): InlineKeyboardMarkup | null {
  const fitting = buttons.filter(({ label, value }) => {
    const bytes = Buffer.byteLength(value);
    return label.trim() !== '' && bytes > 0 && bytes <= buttonValueBytesMax;
  });
  if (fitting.length === 0) return null;
  const keys = fitting.map(({ label, value }) => ({
    text: cleanText(label).slice(0, buttonLabelCharsMax).toWellFormed(),
    callback_data: value,
  }));
  const chars = keys.reduce((sum, { text }) => sum + text.length, 0);
  return { inline_keyboard: chars <= rowCharsMax ? [keys] : keys.map((key) => [key]) };
}
