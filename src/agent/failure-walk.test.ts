import assert from 'node:assert/strict';
import test from 'node:test';
import { seededRandom } from '../lib/random.ts';
import { ModelError, type ModelErrorReason, type TransportFailure } from '../models/model.ts';
import { scriptedRuntime } from '../models/scripted-model.ts';
import { afterFailure, keyRestMs, mayRecoverTransport, recoveryWaitMs, type Walk } from './failure-walk.ts';

const runtime = scriptedRuntime({ reach: 'direct' });
const walk: Walk = {
  runtime,
  isOnPrimary: true,
  keysLeft: 0,
  retries: 0,
  retriesMax: 3,
  isTransportRecovered: false,
  hasFallback: false,
  troubleLeftMs: 900_000,
};
const random = seededRandom(1);
const after = (reason: ModelErrorReason, over: Partial<Walk> = {}, retryAfterMs: number | null = null) =>
  afterFailure(new ModelError(reason, 'no', { retryAfterMs }), { ...walk, ...over }, random);
const lost = (transport: TransportFailure) => new ModelError('timeout', 'no', { transport });

/** One more attempt over a fresh connection once the retries are spent, and only one. */
function recoversFrom(transport: TransportFailure): void {
  const spent = { ...walk, retries: 3 };
  assert.deepEqual(afterFailure(lost(transport), spent, random), { kind: 'recover-transport', delayMs: 6_000 });
  const used = { ...spent, isTransportRecovered: true };
  assert.deepEqual(afterFailure(lost(transport), used, random), { kind: 'give-up' });
}

test('C68 after a read timeout and all retries there is one more attempt over a fresh connection', () => {
  recoversFrom('read-timeout');
});

test('C69 after a connect timeout too', () => {
  recoversFrom('connect-timeout');
});

test('C70 after waiting in vain for a free connection too', () => {
  recoversFrom('pool-timeout');
});

test('C75 after a connect error of a direct endpoint too', () => {
  recoversFrom('connect-error');
});

test('C76 a model on this machine gets a fresh connection too', () => {
  const local = scriptedRuntime({ provider: 'ollama', reach: 'local' });
  assert.equal(mayRecoverTransport(lost('connect-error'), { runtime: local, isOnPrimary: true }), true);
});

test('C71 on a fallback there is no fresh connection', () => {
  assert.equal(mayRecoverTransport(lost('read-timeout'), { runtime, isOnPrimary: false }), false);
});

test('C72 nor after any other kind of error', () => {
  for (const reason of ['server', 'overloaded', 'malformed-stream', 'auth', 'unknown'] as const) {
    assert.equal(mayRecoverTransport(new ModelError(reason, 'no'), { runtime, isOnPrimary: true }), false);
  }
  assert.equal(mayRecoverTransport(lost('reset'), { runtime, isOnPrimary: true }), false);
});

test('C73 C74 nor for aggregators, which try again by themselves', () => {
  const aggregator = scriptedRuntime({ reach: 'aggregator' });
  assert.equal(mayRecoverTransport(lost('connect-timeout'), { runtime: aggregator, isOnPrimary: true }), false);
});

test('C77 C78 the wait before it is 3 seconds and one per retry, 8 at most', () => {
  assert.deepEqual([0, 3, 5, 10].map(recoveryWaitMs), [3_000, 6_000, 8_000, 8_000]);
});

test('the fresh connection does not refill the budget of retries', () => {
  const used = { ...walk, retries: 3, isTransportRecovered: true, hasFallback: true };
  assert.deepEqual(afterFailure(lost('read-timeout'), used, random), { kind: 'fall-back' });
});

test('retries wait 2 seconds, doubling, with jitter downwards, until their budget is spent', () => {
  const delays = [0, 1, 2].map((retries) => {
    const step = after('overloaded', { retries });
    assert.equal(step.kind, 'retry');
    return 'delayMs' in step ? step.delayMs : 0;
  });
  for (const [index, full] of [2_000, 4_000, 8_000].entries()) {
    const delay = delays[index] ?? 0;
    assert.ok(delay >= full / 2 && delay <= full, `${delay} of ${full}`);
  }
  assert.deepEqual(after('overloaded', { retries: 3 }), { kind: 'give-up' });
});

test('what the provider asks for is waited for, up to ten minutes', () => {
  assert.deepEqual(after('rate-limit', {}, 300_000), { kind: 'retry', delayMs: 300_000 });
  assert.deepEqual(after('rate-limit', {}, 600_001), { kind: 'give-up' });
});

test('with another model at hand one quick retry is enough, and nothing long is waited for', () => {
  const hasFallback = true;
  assert.equal(after('server', { hasFallback }).kind, 'retry');
  assert.equal(after('server', { hasFallback, retries: 1 }).kind, 'fall-back');
  assert.equal(after('overloaded', { hasFallback }, 30_000).kind, 'fall-back');
  assert.equal(after('rate-limit', { hasFallback }).kind, 'fall-back');
});

test('all keys are tried before another model is', () => {
  for (const reason of ['auth', 'billing', 'rate-limit'] as const) {
    assert.deepEqual(after(reason, { keysLeft: 1, hasFallback: true }), { kind: 'other-key' });
    assert.deepEqual(after(reason, { keysLeft: 0, hasFallback: true }), { kind: 'fall-back' });
  }
});

test('what no other attempt can mend is told to the user at once', () => {
  for (const reason of ['content-refused', 'payload-too-large'] as const) {
    assert.deepEqual(after(reason, { hasFallback: true, keysLeft: 2 }), { kind: 'give-up' });
  }
  for (const reason of ['auth', 'billing', 'model-not-found', 'bad-request', 'context-overflow'] as const) {
    assert.deepEqual(after(reason), { kind: 'give-up' });
  }
});

test('nothing is waited for beyond the time a turn may go on trying', () => {
  assert.deepEqual(after('overloaded', { troubleLeftMs: 500 }), { kind: 'give-up' });
  assert.deepEqual(after('overloaded', { troubleLeftMs: 500, hasFallback: true }), { kind: 'fall-back' });
});

test('a limited key rests an hour or as long as the provider says, a wrong one five minutes, an unpaid one a day', () => {
  assert.equal(keyRestMs(new ModelError('rate-limit', 'no')), 3_600_000);
  assert.equal(keyRestMs(new ModelError('rate-limit', 'no', { retryAfterMs: 7_000 })), 7_000);
  assert.equal(keyRestMs(new ModelError('auth', 'no')), 300_000);
  assert.equal(keyRestMs(new ModelError('billing', 'no')), 86_400_000);
  assert.equal(keyRestMs(new ModelError('server', 'no')), null);
});
