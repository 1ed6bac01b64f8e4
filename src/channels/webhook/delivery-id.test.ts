import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deliveryId } from './delivery-id.ts';
import type { SignatureKind } from './signature.ts';
import { callFrom } from './test-calls.ts';

const one = Buffer.from('{"n":1}');
const two = Buffer.from('{"n":2}');
const idOf = (kind: SignatureKind, headers: Record<string, string>, body = one) =>
  deliveryId(kind, callFrom(headers), body);

test('what the platform says is what a call is known by', () => {
  assert.equal(idOf('github', { 'x-github-delivery': '72d3162e-cc78' }), '72d3162e-cc78');
  assert.equal(idOf('gitlab', { 'idempotency-key': 'f5e5f430', 'x-gitlab-event-uuid': 'x' }), 'f5e5f430');
  assert.equal(idOf('talaria', { 'idempotency-key': 'job-7', 'x-talaria-timestamp': '1' }, two), 'job-7');
  // Only the platform's own.
  assert.equal(idOf('github', { 'idempotency-key': 'x' }), idOf('github', {}));
});

test('GitLab’s calls that set off one another are told apart', () => {
  const headers = { 'x-gitlab-event-uuid': 'abc' };
  assert.notEqual(idOf('gitlab', headers, one), idOf('gitlab', headers, two));
  assert.equal(idOf('gitlab', headers), idOf('gitlab', headers));
});

test('a platform’s call that is signed again later is the same; a script’s is another', () => {
  const slack = (time: string, body = one) => idOf('slack', { 'x-slack-request-timestamp': time }, body);
  const stripe = (time: string, body = one) => idOf('stripe', { 'stripe-signature': `t=${time},v1=x` }, body);
  const talaria = (time: string, body = one) => idOf('talaria', { 'x-talaria-timestamp': time }, body);
  assert.deepEqual([slack('1') === slack('2'), stripe('1') === stripe('2')], [true, true]);
  assert.deepEqual([talaria('1') === talaria('2'), talaria('1') === talaria('1')], [false, true]);
  for (const idAt of [slack, stripe, talaria]) assert.notEqual(idAt('1', one), idAt('1', two));
});

test('whatever stands in the header, the id is short and plain', () => {
  const strange = ['a b', 'x'.repeat(5_000), '../../etc', 'a:b', 'ü', '\0'];
  const ids = strange.map((id) => idOf('github', { 'x-github-delivery': id }));
  assert.equal(new Set(ids).size, strange.length);
  for (const id of [...ids, idOf('gitlab', { 'x-gitlab-event-uuid': 'y'.repeat(45) })])
    assert.match(id, /^[\w.-]{1,80}$/);
});
