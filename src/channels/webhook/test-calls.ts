/** Calls of webhooks as platforms make them, for tests. */
import { createHmac } from 'node:crypto';
import type { HttpRequest } from '../../http/http-message.ts';
import type { SignatureKind } from './signature.ts';

export const testSecret = 'a secret for tests only';

/** `at`: in milliseconds, or the words that stand for the time. */
export function signedHeaders(
  kind: SignatureKind,
  body: string | Uint8Array,
  at: number | string,
  secret = testSecret,
): Record<string, string> {
  const time = typeof at === 'string' ? at : String(Math.floor(at / 1_000));
  const hmac = (before: string) => createHmac('sha256', secret).update(before).update(body).digest('hex');
  switch (kind) {
    case 'github':
      return { 'x-hub-signature-256': `sha256=${hmac('')}` };
    case 'gitlab':
      return { 'x-gitlab-token': secret };
    case 'slack':
      return { 'x-slack-request-timestamp': time, 'x-slack-signature': `v0=${hmac(`v0:${time}:`)}` };
    case 'stripe':
      return { 'stripe-signature': `t=${time},v1=${hmac(`${time}.`)}` };
    case 'talaria':
      return { 'x-talaria-timestamp': time, 'x-talaria-signature': `sha256=${hmac(`${time}.`)}` };
  }
}

export function callFrom(headers: Readonly<Record<string, string>>): Pick<HttpRequest, 'header'> {
  return { header: (name) => headers[name] };
}

export function postTo(
  path: string,
  body: string | Uint8Array,
  headers: Readonly<Record<string, string>>,
  change: Partial<HttpRequest> = {},
): Omit<HttpRequest, 'params'> {
  return {
    method: 'POST',
    path,
    query: new URLSearchParams(),
    ...callFrom(headers),
    peer: '192.0.2.1',
    signal: new AbortController().signal,
    body: (async function* () {
      yield Buffer.from(body);
    })(),
    ...change,
  };
}
