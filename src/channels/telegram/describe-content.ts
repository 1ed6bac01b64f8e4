/**
 * What a message holds besides its text: files worth fetching, and words for everything a model can't be shown. Pure;
 * fetching is done elsewhere.
 */
import type { Message } from 'grammy/types';

/** The most that the platform lets a bot fetch. */
export const fileBytesMax = 20_000_000;
/** A larger picture that was sent as a file stays a file: models refuse it. */
const shownImageBytesMax = 5_000_000;
const nameCharsMax = 120;
const shownMediaTypes = new Set(['image/jpeg', 'image/png', 'image/gif', 'image/webp']);

export interface WantedFile {
  readonly fileId: string;
  readonly kind: 'image' | 'file';
  readonly name: string;
  readonly mediaType: string;
  /** Null if the platform does not say. */
  readonly bytes: number | null;
  /** What the model is told if it can't be had. */
  readonly instead: string;
}

export interface Content {
  /** Each a note to the model in brackets. */
  readonly words: readonly string[];
  readonly files: readonly WantedFile[];
}

/** Null if the message has nothing to show: somebody joined, a title was changed. */
export function describeContent(message: Message): Content | null {
  const content = filesOf(message) ?? wordsOf(message);
  if (content !== null) return content;
  return message.text === undefined && message.caption === undefined ? null : { words: [], files: [] };
}

function filesOf(message: Message): Content | null {
  if (message.photo !== undefined) return photo(message.photo);
  // An animation is a document too, for old programs.
  if (message.animation !== undefined) return note('animated picture: not shown');
  if (message.document !== undefined) return document(message.document);
  if (message.voice !== undefined) return voice(message.voice);
  return null;
}

function photo(sizes: NonNullable<Message['photo']>): Content {
  const fitting = sizes.filter(({ file_size: size = 0 }) => size <= fileBytesMax);
  const largest = fitting.toSorted((a, b) => b.width * b.height - a.width * a.height)[0];
  if (largest === undefined) return note('photo: too large to be fetched');
  const { file_id: fileId, file_size: bytes = null } = largest;
  const instead = '[photo: could not be fetched]';
  return { words: [], files: [{ fileId, kind: 'image', name: 'photo.jpg', mediaType: 'image/jpeg', bytes, instead }] };
}

function document({ file_id: fileId, file_name, mime_type, file_size }: NonNullable<Message['document']>): Content {
  const name = fileName(file_name);
  const mediaType = /^[\w.+-]+\/[\w.+-]+$/.test(mime_type ?? '') ? (mime_type ?? '') : 'application/octet-stream';
  if (file_size !== undefined && file_size > fileBytesMax) {
    return note(`document ${quoted(name)}, ${(file_size / 1e6).toFixed(0)} MB: too large to be fetched`);
  }
  const isShown = shownMediaTypes.has(mediaType) && file_size !== undefined && file_size <= shownImageBytesMax;
  const instead = `[document ${quoted(name)}: could not be fetched]`;
  return {
    words: [],
    files: [{ fileId, kind: isShown ? 'image' : 'file', name, mediaType, bytes: file_size ?? null, instead }],
  };
}

function voice({ file_id: fileId, duration, mime_type, file_size }: NonNullable<Message['voice']>): Content {
  const words = `[voice note, ${duration} s: not transcribed]`;
  const isTooLarge = file_size !== undefined && file_size > fileBytesMax;
  const file = {
    fileId,
    kind: 'file',
    name: 'voice-note.ogg',
    mediaType: mime_type ?? 'audio/ogg',
    bytes: file_size ?? null,
  } as const;
  return { words: [words], files: isTooLarge ? [] : [{ ...file, instead: '[the voice note could not be fetched]' }] };
}

function wordsOf(message: Message): Content | null {
  const { audio, video, video_note: round, sticker, venue, location, contact, poll, dice, story } = message;
  if (audio !== undefined) {
    const title = audio.title === undefined ? '' : ` ${quoted(audio.title)}`;
    const performer = audio.performer === undefined ? '' : ` by ${quoted(audio.performer)}`;
    return note(`audio${title}${performer}, ${audio.duration} s: not transcribed`);
  }
  if (video !== undefined) return note(`video, ${video.duration} s: not shown`);
  if (round !== undefined) return note(`round video, ${round.duration} s: not shown`);
  if (sticker !== undefined) return note(sticker.emoji === undefined ? 'sticker' : `sticker ${sticker.emoji}`);
  if (venue !== undefined) {
    return note(`place ${quoted(venue.title)}, ${quoted(venue.address)}, at ${point(venue.location)}`);
  }
  if (location !== undefined) return note(`location: ${point(location)}`);
  if (contact !== undefined) {
    const name = [contact.first_name, contact.last_name].filter((part) => part !== undefined).join(' ');
    return note(`contact ${quoted(name)}, ${contact.phone_number}`);
  }
  if (poll !== undefined) {
    const options = poll.options.map(({ text }) => quoted(text)).join(', ');
    return note(`poll ${quoted(poll.question)}: ${options}`);
  }
  if (dice !== undefined) return note(`dice ${dice.emoji}: ${dice.value}`);
  if (story !== undefined) return note('story: not shown');
  return null;
}

function note(words: string): Content {
  return { words: [`[${words}]`], files: [] };
}

function point({ latitude, longitude }: { readonly latitude: number; readonly longitude: number }): string {
  return `${latitude}, ${longitude}`;
}

export function quoted(text: string): string {
  return JSON.stringify(text.slice(0, 300));
}

/** Without what could make it a path. */
function fileName(name = 'file'): string {
  const safe = name.replaceAll(/[/\\\p{Cc}]/gu, '_').replace(/^\.+/, '_');
  return safe.slice(0, nameCharsMax).toWellFormed().trim() || 'file';
}
