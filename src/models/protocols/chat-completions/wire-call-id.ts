/** Our ids of calls in a form that every provider takes. The same call has the same id, always. */
import type { Runtime } from '../../model.ts';
import { hasQuirk } from './quirks.ts';

const shortIdChars = 9;

export function wireCallId(runtime: Runtime, callId: string): string {
  if (hasQuirk(runtime, 'short-call-ids')) return fingerprint(callId).slice(0, shortIdChars);
  return /^[a-zA-Z0-9_-]{1,64}$/.test(callId) ? callId : fingerprint(callId);
}

/** Forty letters and digits. */
export function fingerprint(text: string): string {
  const { createHash } = process.getBuiltinModule('node:crypto');
  return BigInt(`0x${createHash('sha256').update(text).digest('hex')}`)
    .toString(36)
    .padStart(50, '0')
    .slice(-40);
}
