/**
 * What a call is known by, so that one that comes again is not a second message. Platforms give their deliveries ids;
 * where there is none, the same body is the same call, since what platforms send has ids and times of its own. Scripts do
 * send the same body on purpose: there the time counts as well. Pure.
 */
import type { HttpRequest } from '../../http/http-message.ts';
import { signedTime, type SignatureKind } from './signature.ts';

const hashChars = 32;

/** Letters, digits, `.`, `_` and `-`; at most 80 of them. */
export function deliveryId(kind: SignatureKind, call: Pick<HttpRequest, 'header'>, body: Uint8Array): string {
  const { header } = call;
  switch (kind) {
    case 'github':
      return plain(header('x-github-delivery')) ?? hashed(body);
    case 'gitlab': {
      // Calls that set off one another share the second one.
      const event = plain(header('x-gitlab-event-uuid'));
      return plain(header('idempotency-key')) ?? (event === null ? hashed(body) : `${event}-${hashed(body)}`);
    }
    case 'slack':
    case 'stripe':
      // Sent again, they are signed again: the time is another one.
      return hashed(body);
    case 'talaria':
      return plain(header('idempotency-key')) ?? hashed(`${signedTime(kind, call) ?? ''}.`, body);
  }
}

function plain(id: string | undefined): string | null {
  if (id === undefined || id === '') return null;
  return /^[\w.-]{1,45}$/.test(id) ? id : hashed(id);
}

function hashed(...parts: readonly (string | Uint8Array)[]): string {
  const digest = process.getBuiltinModule('node:crypto').createHash('sha256');
  for (const part of parts) digest.update(part);
  return digest.digest('hex').slice(0, hashChars);
}
