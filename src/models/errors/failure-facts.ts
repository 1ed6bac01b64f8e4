/**
 * Reads what a provider says about a failure, whatever shape it says it in: an error object, one in a list, one inside
 * another as text, a sentence, a page of HTML. Pure, never throws. What it means is decided by the table.
 */

/** A failed answer. Inside a stream there is no status and there are no headers. */
export interface ProviderFailure {
  readonly status: number | null;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface FailureFacts {
  readonly status: number | null;
  /** Every code, type and status name, in lower case. */
  readonly codes: readonly string[];
  /** What it says in words, one line. */
  readonly words: string;
  readonly isHtml: boolean;
  /** The objects that were found, outermost first; for what only some providers tell. */
  readonly objects: readonly Readonly<Record<string, unknown>>[];
}

const objectsMax = 12;
const wordsCharsMax = 4_000;
/** Deeper fields that carry an error object of their own. */
const innerFields = ['error', 'response', 'detail', 'message', 'details', 'metadata', 'raw', 'innererror', 'errors'];

export function factsOf(failure: ProviderFailure): FailureFacts {
  const isHtml = /^\s*(?:<!doctype html|<html|<head|<center|<h1)/i.test(failure.body);
  const objects = isHtml ? [] : objectsIn(parsed(failure.body));
  const codes = objects.flatMap((object) =>
    ['code', 'type', 'status', 'reason', 'error_type'].flatMap((field) => {
      const value = object[field];
      return typeof value === 'string' || typeof value === 'number' ? [String(value).toLowerCase()] : [];
    }),
  );
  const words = isHtml ? headingOf(failure.body) : wordsOf(objects, failure.body);
  return { status: failure.status ?? statusIn(objects), codes, words: oneLine(words), isHtml, objects };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Breadth first, so that the provider's own words come before those of who is behind it. */
function objectsIn(body: unknown): Record<string, unknown>[] {
  const found: Record<string, unknown>[] = [];
  const queue: unknown[] = [body];
  while (queue.length > 0 && found.length < objectsMax) {
    const value = queue.shift();
    if (Array.isArray(value)) queue.push(...value.slice(0, objectsMax));
    else if (typeof value === 'string' && /^\s*[{[]/.test(value)) {
      const inner = parsed(value);
      if (typeof inner === 'object') queue.push(inner);
    } else if (isRecord(value)) {
      found.push(value);
      queue.push(...innerFields.map((field) => value[field]));
    }
  }
  return found;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** All sentences, the outermost first; one that only says that another has failed adds nothing. */
function wordsOf(objects: readonly Record<string, unknown>[], body: string): string {
  const sentences = objects.flatMap((object) =>
    ['message', 'error', 'detail', 'msg', 'raw', 'error_description'].flatMap((field) => {
      const value = object[field];
      return typeof value === 'string' && value.trim() !== '' && !/^\s*[{[]/.test(value) ? [value] : [];
    }),
  );
  const telling = sentences.filter((sentence) => !/^provider returned error$/i.test(sentence.trim()));
  const chosen = [...new Set(telling.length > 0 ? telling : sentences)];
  if (chosen.length > 0) return chosen.join(' ');
  return objects.length > 0 ? '' : body;
}

/** A body inside a stream may name the status that it would have had. */
function statusIn(objects: readonly Record<string, unknown>[]): number | null {
  for (const object of objects) {
    for (const field of ['status_code', 'code', 'status']) {
      const value = Number(object[field]);
      if (Number.isInteger(value) && value >= 400 && value <= 599) return value;
    }
  }
  return null;
}

function headingOf(html: string): string {
  const heading = /<title[^>]*>([^<]*)<\/title>/i.exec(html)?.[1] ?? /<h1[^>]*>([^<]*)<\/h1>/i.exec(html)?.[1] ?? '';
  return heading.replaceAll('&nbsp;', ' ').replaceAll('&amp;', '&');
}

function oneLine(text: string): string {
  // Control characters, too: what a server sends ends up in a terminal.
  return text
    .slice(0, wordsCharsMax)
    .toWellFormed()
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim();
}
