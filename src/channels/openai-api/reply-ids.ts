/**
 * The ids that clients see. They are made from the message's own id, so that a repeated request is answered under the
 * same ones, and a response's id leads back to its session without anything being kept. Pure.
 */
import { isId } from '../../lib/ids.ts';
import type { InboxId, SessionId } from '../../protocol/ids.ts';

const bodyLength = 26;
const bodyOf = (id: string) => id.slice(-bodyLength);

export function completionId(inboxId: InboxId): string {
  return `chatcmpl-${bodyOf(inboxId)}`;
}

/** Without a session it leads nowhere: the response is not to be asked for again. */
export function responseId(inboxId: InboxId, sessionId: SessionId | null): string {
  return `resp_${sessionId === null ? '' : bodyOf(sessionId)}${bodyOf(inboxId)}`;
}

export function messageId(inboxId: InboxId, index: number): string {
  return `msg_${bodyOf(inboxId)}${index}`;
}

export function readResponseId(id: string): { sessionId: SessionId; inboxId: InboxId } | null {
  if (!id.startsWith('resp_')) return null;
  const sessionId = `ses_${id.slice(5, 5 + bodyLength)}`;
  const inboxId = `inb_${id.slice(5 + bodyLength)}`;
  return isId('ses', sessionId) && isId('inb', inboxId) ? { sessionId, inboxId } : null;
}

/** When the message came, in seconds since 1970: ids begin with 48 bits of milliseconds (`lib/ids.ts`). */
export function receivedAtSeconds(inboxId: InboxId): number {
  const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';
  let bits = 0n;
  for (const letter of bodyOf(inboxId)) bits = (bits << 5n) | BigInt(alphabet.indexOf(letter));
  return Math.floor(Number(bits >> 80n) / 1_000);
}
