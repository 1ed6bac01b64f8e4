/**
 * Tells whether a call was made by somebody who knows the secret, in the words of the platform that calls. Looks at the
 * raw bytes and takes the same time whatever is wrong. Where the platform signs the time too, an old call is refused.
 */
import type { HttpRequest } from '../../http/http-message.ts';

export type SignatureKind = 'talaria' | 'github' | 'gitlab' | 'slack' | 'stripe';

/** How far a call's time may be from ours, before or after. */
const windowMs = 300_000;

type Headers = Pick<HttpRequest, 'header'>;

/** `now` is in milliseconds. Never throws. */
export function isSigned(kind: SignatureKind, secret: string, call: Headers, body: Uint8Array, now: number): boolean {
  const { given, expected, sentAt } = proof(kind, secret, call, body);
  const isRight = given.map((one) => isSame(one, expected)).includes(true);
  return isRight && (sentAt === null || isNear(sentAt, now));
}

/** When it was signed, as the call says; null where that is not signed. Only for calls that are signed. */
export function signedTime(kind: SignatureKind, call: Headers): string | null {
  return proof(kind, '', call, new Uint8Array()).sentAt;
}

interface Proof {
  readonly given: readonly string[];
  readonly expected: string;
  /** In seconds, as it was sent. */
  readonly sentAt: string | null;
}

/** A call may carry several signatures while a secret is changed. */
const givenMax = 4;

function proof(kind: SignatureKind, secret: string, { header }: Headers, body: Uint8Array): Proof {
  const get = (name: string) => header(name) ?? '';
  switch (kind) {
    case 'github':
      return { given: [get('x-hub-signature-256')], expected: `sha256=${hmac(secret, '', body)}`, sentAt: null };
    case 'gitlab':
      return { given: [get('x-gitlab-token')], expected: secret, sentAt: null };
    case 'slack': {
      const sentAt = get('x-slack-request-timestamp');
      const expected = `v0=${hmac(secret, `v0:${sentAt}:`, body)}`;
      return { given: [get('x-slack-signature')], expected, sentAt };
    }
    case 'stripe': {
      const pairs = get('stripe-signature')
        .split(',')
        .map((pair) => pair.trim().split('=', 2));
      const sentAt = pairs.find(([name]) => name === 't')?.[1] ?? '';
      const given = pairs.flatMap(([name, value = '']) => (name === 'v1' ? [value] : [])).slice(0, givenMax);
      return { given, expected: hmac(secret, `${sentAt}.`, body), sentAt };
    }
    case 'talaria': {
      const sentAt = get('x-talaria-timestamp');
      const expected = `sha256=${hmac(secret, `${sentAt}.`, body)}`;
      return { given: [get('x-talaria-signature')], expected, sentAt };
    }
  }
}

function hmac(secret: string, before: string, body: Uint8Array): string {
  const { createHmac } = process.getBuiltinModule('node:crypto');
  return createHmac('sha256', secret).update(before).update(body).digest('hex');
}

/** Hashed first, so that neither content nor length shows in the time it takes. */
function isSame(one: string, other: string): boolean {
  const { hash, timingSafeEqual } = process.getBuiltinModule('node:crypto');
  return timingSafeEqual(hash('sha256', one, 'buffer'), hash('sha256', other, 'buffer'));
}

function isNear(seconds: string, now: number): boolean {
  return /^\d{1,12}$/.test(seconds) && Math.abs(now - Number(seconds) * 1_000) <= windowMs;
}
