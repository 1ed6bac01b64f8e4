/**
 * Sends a file: as a picture where Telegram takes it as one, otherwise as a document, which keeps it byte for byte. What
 * it does not take as a picture after all (too long and thin, damaged) goes out as a document.
 */
import type { InputFile } from 'grammy';
import type { InlineKeyboardMarkup } from 'grammy/types';
import type { DeliveryFile } from '../channel.ts';
import { addressOf, type TelegramTarget } from './target.ts';
import type { TelegramApi } from './telegram-api.ts';
import { TelegramError } from './telegram-error.ts';

export const photoBytesMax = 10_000_000;
export const documentBytesMax = 50_000_000;
const nameCharsMax = 200;

const photoTypes: ReadonlySet<string> = new Set(['image/jpeg', 'image/png', 'image/webp']);

export interface FileOptions {
  readonly caption?: string;
  readonly parse_mode?: 'HTML';
  readonly reply_markup?: InlineKeyboardMarkup;
}

export interface SendFileDeps {
  readonly api: TelegramApi;
  readonly uploadTimeoutMs: number;
}

/** The platform's id of the message. Throws a `TelegramError`. */
export async function sendFile(
  { api, uploadTimeoutMs }: SendFileDeps,
  target: TelegramTarget,
  file: DeliveryFile,
  options: FileOptions,
  signal: AbortSignal,
): Promise<string> {
  const bytes = await file.bytes();
  if (bytes.byteLength > documentBytesMax) {
    const text = `${file.name} has ${bytes.byteLength} bytes; Telegram takes at most ${documentBytesMax}`;
    throw new TelegramError({ reason: 'bad-request', text, notDone: true });
  }
  const { InputFile: Input } = await import('grammy');
  // Read anew for every request: one that was begun has used it up.
  const input = (): InputFile => new Input(bytes, quoted(plainName(file.name)));
  const place = { ...addressOf(target), ...options };
  if (photoTypes.has(file.mediaType) && bytes.byteLength <= photoBytesMax) {
    try {
      const sent = await api.call((m, s) => m.sendPhoto({ ...place, photo: input() }, s), signal, uploadTimeoutMs);
      return String(sent.message_id);
    } catch (error) {
      if (!isNoPhoto(error)) throw error;
    }
  }
  const sent = await api.call((m, s) => m.sendDocument({ ...place, document: input() }, s), signal, uploadTimeoutMs);
  return String(sent.message_id);
}

function isNoPhoto(error: unknown): boolean {
  if (!(error instanceof TelegramError) || error.reason !== 'bad-request') return false;
  return /PHOTO_|IMAGE_PROCESS_FAILED|file must be non-empty|wrong file|photo should be/i.test(error.message);
}

/** grammY writes the name into a header as it is; without quotes it would end at the first space or semicolon. */
function quoted(name: string): string {
  return `"${name}"`;
}

/** A name that any file system takes, its ending kept. */
function plainName(name: string): string {
  const clean = name
    .toWellFormed()
    .replaceAll(/[\p{Cc}\p{Cf}/\\:*?"<>|]/gu, '_')
    .trim();
  return clean === '' ? 'file' : clean.slice(-nameCharsMax).toWellFormed();
}
