import assert from 'node:assert/strict';
import test from 'node:test';
import { classify } from './explain-failure.ts';

const now = Date.parse('2026-11-15T12:00:00Z');

function waitOf(headers: Readonly<Record<string, string>>, error: object = {}, status = 429): number | null {
  return classify({ status, headers, body: JSON.stringify({ error }) }, now).retryAfterMs;
}

test('a header says how long, in seconds, milliseconds or as a date', () => {
  assert.equal(waitOf({ 'retry-after': '27' }), 27_000);
  assert.equal(waitOf({ 'retry-after': '0.5' }), 500);
  assert.equal(waitOf({ 'retry-after': 'Sun, 15 Nov 2026 12:01:30 GMT' }), 90_000);
  assert.equal(waitOf({ 'retry-after-ms': '1234', 'retry-after': '2' }), 1_234);
});

test('a moment that is over is no wait, and nonsense is none at all', () => {
  assert.equal(waitOf({ 'retry-after': 'Sun, 15 Nov 2026 11:00:00 GMT' }), 0);
  assert.equal(waitOf({ 'retry-after': 'soon' }), null);
  assert.equal(waitOf({ 'retry-after': '-5' }), null);
  assert.equal(waitOf({}), null);
});

test('of limits with resets, the one that is spent counts', () => {
  const headers = {
    'x-ratelimit-remaining-requests': '99',
    'x-ratelimit-reset-requests': '120ms',
    'x-ratelimit-remaining-tokens': '0',
    'x-ratelimit-reset-tokens': '2m59.56s',
  };
  assert.equal(waitOf(headers), 179_560);
  const anthropic = {
    'anthropic-ratelimit-requests-remaining': '10',
    'anthropic-ratelimit-requests-reset': '2026-11-15T12:30:00Z',
    'anthropic-ratelimit-input-tokens-remaining': '0',
    'anthropic-ratelimit-input-tokens-reset': '2026-11-15T12:00:42Z',
  };
  assert.equal(waitOf(anthropic), 42_000);
  assert.equal(waitOf({ 'anthropic-ratelimit-unified-reset': String(now / 1_000 + 3_600) }), 3_600_000);
  assert.equal(waitOf({ 'x-ratelimit-reset': String(now + 5_000) }), 5_000);
});

test('resets that come with every answer say nothing about another failure', () => {
  assert.equal(waitOf({ 'x-ratelimit-reset-requests': '6m0s' }, {}, 500), null);
});

test('an error object says how long', () => {
  assert.equal(waitOf({}, { details: [{ '@type': 'RetryInfo', retryDelay: '34.5s' }] }), 34_500);
  assert.equal(waitOf({}, { type: 'usage_limit_reached', resets_in_seconds: 13_872 }), 13_872_000);
  assert.equal(waitOf({}, { type: 'usage_limit_reached', resets_at: now / 1_000 + 60 }), 60_000);
  const metadata = { headers: { 'X-RateLimit-Remaining': '0', 'X-RateLimit-Reset': String(now + 7_000) } };
  assert.equal(waitOf({}, { metadata }), 7_000);
});

test('words say how long', () => {
  const cases: [string, number | null][] = [
    ['Please try again in 20s.', 20_000],
    ['Please try again in 7m12.5s. Visit …', 432_500],
    ['Please try again in 120ms.', 120],
    ['please try again after 1 seconds', 1_000],
    ['Try again in 4 days 20 hours 9 minutes.', 418_140_000],
    ['Please retry in 34.07s.', 34_070],
    ['Please try again later.', null],
    ['There are 20 seconds in it.', null],
  ];
  for (const [message, expected] of cases) assert.equal(waitOf({}, { message }), expected, message);
});
