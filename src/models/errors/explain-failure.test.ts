import assert from 'node:assert/strict';
import test from 'node:test';
import * as fc from 'fast-check';
import { explainFailure, explainStreamError } from './explain-failure.ts';
import { errorSamples } from './error-samples.ts';

const context = { provider: 'openai', secret: 'topsecret-0123456789', now: 0 };

function explain(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}) {
  const { reason, message, retryable, retryAfterMs, transport } = explainFailure(
    { status, headers, body: typeof body === 'string' ? body : JSON.stringify(body) },
    context,
  );
  return { reason, message, retryable, retryAfterMs, transport };
}

test('the sentence names the provider, what happened and what it said itself', () => {
  assert.deepEqual(explain(429, { error: { message: 'Slower, please.' } }, { 'retry-after': '3' }), {
    reason: 'rate-limit',
    message: 'openai has had too many requests for now (HTTP 429): Slower, please.',
    retryable: true,
    retryAfterMs: 3_000,
    transport: null,
  });
});

test('where the user can do something, the sentence says what', () => {
  assert.equal(
    explain(401, { error: { message: 'Bad key' } }).message,
    'openai refused the key (HTTP 401): Bad key. Enter another key with: talaria model set openai',
  );
});

test('the key is blanked, and everything that looks like one', () => {
  const { message } = explain(400, {
    error: {
      message: 'topsecret-0123456789 and sk-proj-abcDEF0123456789 and AIzaSyA1234567890abcdef and sk-pr***********wxyz',
    },
  });
  assert.equal(message, 'openai did not accept the request (HTTP 400): [key] and [key] and [key] and [key].');
});

test('long words are cut, broken ones are whole again, control characters are gone', () => {
  const { message } = explain(400, { error: { message: `\u001b[31m${'x'.repeat(180)}\n\ud83d${'y'.repeat(500)}` } });
  assert.ok(message.isWellFormed() && message.length < 300 && message.endsWith('…'));
  assert.doesNotMatch(message, /\p{Cc}/u);
});

test('a page of HTML is told by its title', () => {
  assert.equal(
    explain(502, '<html><head><title>502 Bad&nbsp;Gateway</title></head><body>…</body></html>').message,
    'openai failed on its side (HTTP 502): 502 Bad Gateway.',
  );
});

test('an empty body is a sentence, too', () => {
  assert.equal(explain(500, '').message, 'openai failed on its side (HTTP 500).');
});

test('a provider that says not to try again is heard', () => {
  assert.equal(explain(500, '', { 'x-should-retry': 'false' }).retryable, false);
  assert.equal(explain(400, '', { 'x-should-retry': 'true' }).retryable, false);
});

test('memory that a local server does not have is not waited for', () => {
  const { reason, retryable } = explain(500, {
    error: 'model requires more system memory (5.6 GiB) than is available',
  });
  assert.deepEqual({ reason, retryable }, { reason: 'server', retryable: false });
});

test('an error in the middle of a stream is told without a status', () => {
  const error = explainStreamError('anthropic', '{"type":"overloaded_error","message":"Overloaded"}');
  assert.deepEqual([error.reason, error.message], ['overloaded', 'anthropic is overloaded: Overloaded.']);
});

test('whatever is sent, there is a reason and one line without the key', () => {
  const bodies = fc.oneof(
    fc.string(),
    fc.json(),
    fc.constantFrom(...errorSamples.map((sample) => sample.body)),
    fc.string().map((text) => `${text}${context.secret}`),
  );
  fc.assert(
    fc.property(bodies, fc.integer({ min: 100, max: 999 }), (body, status) => {
      const { message } = explain(status, body);
      assert.ok(!message.includes(context.secret) && !message.includes('\n') && message.length < 400);
    }),
  );
});
