/**
 * How long a provider wants to be left alone: from headers, from the error object, from its words. Not capped here; null
 * if it doesn't say. Pure.
 */
import type { FailureFacts } from './failure-facts.ts';

type Headers = Readonly<Record<string, string>>;

export function retryAfterMs(headers: Headers, facts: FailureFacts, now: number): number | null {
  const found =
    milliseconds(headers['retry-after-ms']) ??
    secondsOrDate(headers['retry-after'], now) ??
    toldInBody(facts, now) ??
    toldInWords(facts.words);
  return found === null ? null : Math.max(0, Math.ceil(found));
}

/** When the limit that was hit is over, by headers that come with every answer: only to be asked after a rate limit. */
export function limitResetMs(headers: Headers, now: number): number | null {
  const resets: { waitMs: number; isSpent: boolean | null }[] = [];
  for (const [name, value] of Object.entries(headers)) {
    if (!/ratelimit.*reset/.test(name)) continue;
    const waitMs = secondsOrDate(value, now) ?? duration(value);
    if (waitMs === null) continue;
    const remaining = headers[name.replace('reset', 'remaining')];
    resets.push({ waitMs: Math.max(0, waitMs), isSpent: remaining === undefined ? null : Number(remaining) <= 0 });
  }
  const spent = resets.filter((reset) => reset.isSpent === true);
  if (spent.length > 0) return Math.ceil(Math.max(...spent.map((reset) => reset.waitMs)));
  const unsaid = resets.filter((reset) => reset.isSpent === null);
  return unsaid.length > 0 ? Math.ceil(Math.min(...unsaid.map((reset) => reset.waitMs))) : null;
}

function milliseconds(value: string | undefined): number | null {
  return value !== undefined && /^\d+(?:\.\d+)?$/.test(value.trim()) ? Number(value) : null;
}

/** Seconds from now, a moment as seconds or milliseconds since 1970, or a date. */
function secondsOrDate(value: string | undefined, now: number): number | null {
  const text = value?.trim() ?? '';
  if (/^\d+(?:\.\d+)?$/.test(text)) return fromNumber(Number(text), now);
  if (!/^(?:[A-Z][a-z]{2}, |\d{4}-\d\d-\d\dT)/.test(text)) return null;
  const at = Date.parse(text);
  return Number.isNaN(at) ? null : at - now;
}

function fromNumber(value: number, now: number): number {
  if (value >= 1e12) return value - now;
  return value >= 1e9 ? value * 1_000 - now : value * 1_000;
}

const unitsMs: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** `6m0s`, `120ms`, `2m59.56s`; also with words: `4 days 20 hours 9 minutes`. */
function duration(text: string): number | null {
  const pieces = [
    ...text.matchAll(
      /(\d+(?:\.\d+)?) ?(ms|milliseconds?|seconds?|secs?|s|minutes?|mins?|m|hours?|hrs?|h|days?|d)(?![a-z])/gi,
    ),
  ];
  if (pieces.length === 0) return null;
  return pieces.reduce((sum, [, number, unit = '']) => sum + Number(number) * unitMs(unit.toLowerCase()), 0);
}

function unitMs(unit: string): number {
  const short = unit === 'ms' || unit.startsWith('milli') ? 'ms' : unit.charAt(0);
  return unitsMs[short] ?? 0;
}

function toldInBody(facts: FailureFacts, now: number): number | null {
  for (const object of facts.objects) {
    const { retryDelay, resets_in_seconds: resetsIn, resets_at: resetsAt, retry_after: retryAfter } = object;
    if (typeof retryDelay === 'string') return duration(retryDelay);
    if (typeof resetsIn === 'number') return resetsIn * 1_000;
    if (typeof resetsAt === 'number') return fromNumber(resetsAt, now);
    if (typeof retryAfter === 'number') return retryAfter * 1_000;
    // OpenRouter repeats the headers of who is behind it.
    const headers = object['headers'];
    if (typeof headers === 'object' && headers !== null) {
      const lower = Object.fromEntries(
        Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)]),
      );
      const told = secondsOrDate(lower['retry-after'], now) ?? limitResetMs(lower, now);
      if (told !== null) return told;
    }
  }
  return null;
}

function toldInWords(words: string): number | null {
  const told =
    /(?:try(?:ing)? again|retry(?:ing)?|available again|resets?)(?: your request)? (?:in|after) ((?:~|about )?(?:\d+(?:\.\d+)? ?[a-z]+[ ,]{0,2}(?:and )?)+)/i.exec(
      words,
    )?.[1];
  return told === undefined ? null : duration(told);
}
