/** What a turn is doing, in one line: which tool, on what, for how long. Pure. */
import type { LiveCall } from '../protocol/events.ts';

/** Nothing changes but the seconds: an edit for those alone is made no more often than this. */
export const beatMinMs = 10_000;
const argumentCharsMax = 60;
/** Arguments that say best what a call is about. */
const tellingKeys = ['command', 'path', 'file', 'url', 'query', 'pattern', 'name', 'question', 'text'];
/** Longer arguments are not worth reading for one line. */
const argumentsReadMax = 100_000;

export interface Progress {
  readonly words: string;
  /** Since when; null if that says nothing. */
  readonly since: number | null;
}

/** `terminal: npm test` */
export function callInWords({ name, arguments: written }: Pick<LiveCall, 'name' | 'arguments'>): string {
  const about = oneLine(tellingArgument(written), argumentCharsMax);
  const tool = oneLine(name, argumentCharsMax);
  return about === '' ? tool : `${tool}: ${about}`;
}

/** `terminal: npm test · 12 s`; empty if there is nothing to say. Never opens a code block, never two lines. */
export function progressLine({ words, since }: Progress, now: number, charsMax: number): string {
  if (words === '') return '';
  const time = since === null ? '' : ` · ${durationInWords(now - since)}`;
  return oneLine(words, charsMax - time.length) + time;
}

export function durationInWords(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return seconds % 60 === 0 ? `${minutes} min` : `${minutes} min ${seconds % 60} s`;
  return minutes % 60 === 0 ? `${minutes / 60} h` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** How long to leave a line alone that only its seconds would change: the longer it lasts, the less a second matters. */
export function beatAfterMs(elapsedMs: number): number {
  if (elapsedMs < 60_000) return beatMinMs;
  return elapsedMs < 600_000 ? 30_000 : 120_000;
}

/** A text as one line that is not too long and can't be taken for a fence. */
export function oneLine(text: string, charsMax: number): string {
  const line = text
    .slice(0, charsMax * 4)
    .replaceAll(/\s+/gu, ' ')
    .replaceAll(/`{3,}|~{3,}/gu, "'")
    .trim();
  if (line.length <= charsMax && text.length <= charsMax * 4) return line.toWellFormed();
  const cut = line.slice(0, Math.max(0, charsMax - 1));
  // Half a character at the end is left out.
  return `${/[\uD800-\uDBFF]$/.test(cut) ? cut.slice(0, -1) : cut}…`.toWellFormed();
}

function tellingArgument(written: string): string {
  if (written.length > argumentsReadMax) return '';
  let input: unknown;
  try {
    input = JSON.parse(written);
  } catch {
    // The model wrote something that is no JSON; the tool says so.
    return '';
  }
  if (typeof input !== 'object' || input === null) return '';
  const texts = new Map(Object.entries(input).filter((pair): pair is [string, string] => typeof pair[1] === 'string'));
  const key = tellingKeys.find((candidate) => texts.has(candidate));
  return (key === undefined ? [...texts.values()][0] : texts.get(key)) ?? '';
}
