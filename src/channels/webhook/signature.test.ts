import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isSigned, type SignatureKind } from './signature.ts';
import { callFrom, signedHeaders, testSecret } from './test-calls.ts';

const now = 1_800_000_000_000;
const kinds: readonly SignatureKind[] = ['talaria', 'github', 'gitlab', 'slack', 'stripe'];
const timed: readonly SignatureKind[] = ['talaria', 'slack', 'stripe'];
const body = Buffer.from('{"a":"ü"}');
const check = (kind: SignatureKind, headers: Record<string, string>, bytes: Uint8Array = body, at = now) =>
  isSigned(kind, testSecret, callFrom(headers), bytes, at);

test('a call that is signed as its platform signs is right', () => {
  for (const kind of kinds) assert.equal(check(kind, signedHeaders(kind, body, now)), true, kind);
});

test('GitHub’s own example is right', () => {
  const header = 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17';
  const call = callFrom({ 'x-hub-signature-256': header });
  const text = Buffer.from('Hello, World!');
  assert.equal(isSigned('github', "It's a Secret to Everybody", call, text, now), true);
});

test('Slack’s own example is right', () => {
  const text =
    'token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar' +
    '&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com' +
    '%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14' +
    'd10d2c447fce8b6703c';
  const call = callFrom({
    'x-slack-request-timestamp': '1531420618',
    'x-slack-signature': 'v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503',
  });
  const signingSecret = '8f742231b10e8888abcd99yyyzzz85a5';
  assert.equal(isSigned('slack', signingSecret, call, Buffer.from(text), 1_531_420_618_000), true);
});

test('another secret, another body, no signature and another platform’s signature are wrong', () => {
  for (const kind of kinds) {
    const headers = signedHeaders(kind, body, now);
    assert.equal(isSigned(kind, `${testSecret}x`, callFrom(headers), body, now), false, kind);
    if (kind !== 'gitlab') assert.equal(check(kind, headers, Buffer.from('{"a":"u"}')), false, kind);
    assert.equal(check(kind, {}), false, kind);
    for (const other of kinds) if (other !== kind) assert.equal(check(other, headers), false, `${kind} as ${other}`);
    for (const [name, value] of Object.entries(headers)) {
      for (const spoilt of ['', ' ', value.slice(0, -1), `${value}0`, ` ${value.slice(1)}`]) {
        assert.equal(check(kind, { ...headers, [name]: spoilt }), false, `${kind} ${name}: ${spoilt}`);
      }
    }
  }
});

test('where the time is signed, it counts, and five minutes before and after are the limit', () => {
  for (const kind of timed) {
    for (const [offsetMs, isRight] of [
      [-300_000, true],
      [300_000, true],
      [-301_000, false],
      [301_000, false],
    ] as const) {
      assert.equal(check(kind, signedHeaders(kind, body, now + offsetMs)), isRight, `${kind} ${offsetMs}`);
    }
    for (const time of ['', '-1', '1e12', 'now', '0x6b49d200', '99999999999999']) {
      assert.equal(check(kind, signedHeaders(kind, body, time)), false, `${kind} ${time}`);
    }
  }
});

test('Stripe signs with an old and a new secret for a while: one of a few must be right', () => {
  const { 'stripe-signature': right = '' } = signedHeaders('stripe', body, now);
  const wrong = `v1=${'0'.repeat(64)}`;
  assert.equal(check('stripe', { 'stripe-signature': `${right},${wrong}` }), true);
  assert.equal(check('stripe', { 'stripe-signature': right.replace('v1=', `${wrong},v0=x, v1=`) }), true);
  assert.equal(check('stripe', { 'stripe-signature': right.replace('v1=', `${`${wrong},`.repeat(9)}v1=`) }), false);
  assert.equal(check('stripe', { 'stripe-signature': right.replace('v1=', 'v0=') }), false);
});
