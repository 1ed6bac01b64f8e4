/**
 * Signatures under reasoning, and ids. Both are made from the text alone, so that a server that was started anew knows
 * its own.
 */
import { createHash, createHmac } from 'node:crypto';

const sealKey = 'a key for tests';

export function sealOf(text: string): string {
  return createHmac('sha256', sealKey).update(text).digest('base64');
}

/** A block that only this server can read: the text itself, sealed. */
export function encrypt(text: string): string {
  return `${Buffer.from(text).toString('base64url')}.${sealOf(text)}`;
}

export function isOwnBlock(block: string): boolean {
  const [body = '', seal = ''] = block.split('.');
  return seal === sealOf(Buffer.from(body, 'base64url').toString());
}

export function fingerprint(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 24);
}
