/**
 * A key as a request carries it: as a bearer token, or as the cookie that a browser got for it. The cookie is derived from
 * the key, so it survives a restart and dies with the key. What is stored of a key tells neither of the two.
 */
import { createHash, createHmac, randomBytes } from 'node:crypto';
import type { HttpRequest } from './http-message.ts';

const cookieName = 'talaria_login';
const cookieDays = 30;
const keyBytes = 32;
/** So that scanners for leaked secrets, and people, know one when they see it. */
const keyPrefix = 'tal_';

export type Credential = { readonly kind: 'bearer' | 'cookie'; readonly secret: string };

/** What the request shows. A bearer token wins: whoever sends one means it. */
export function credentialOf(request: Pick<HttpRequest, 'header'>): Credential | null {
  const bearer = /^Bearer +(.+)$/i.exec(request.header('authorization') ?? '')?.[1];
  if (bearer !== undefined) return { kind: 'bearer', secret: bearer.trim() };
  const cookie = cookieOf(request.header('cookie') ?? '');
  return cookie === null ? null : { kind: 'cookie', secret: cookie };
}

/** A new key, to be shown once. */
export function generateKey(): string {
  return `${keyPrefix}${randomBytes(keyBytes).toString('base64url')}`;
}

/** What to store of a key: 64 hexadecimal digits that fit it and its cookie, and from which neither can be made. */
export function hashKey(key: string): string {
  return hashToken(tokenFor(key));
}

/** The same, from what a request shows. */
export function hashCredential({ kind, secret }: Credential): string {
  return kind === 'bearer' ? hashKey(secret) : hashToken(secret);
}

/** The Set-Cookie header of a browser that has shown the key. */
export function loginCookie(key: string): string {
  return `${cookieName}=${tokenFor(key)}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${cookieDays * 86_400}`;
}

function tokenFor(key: string): string {
  return createHmac('sha256', key).update('talaria web login').digest('hex');
}

function hashToken(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

function cookieOf(header: string): string | null {
  for (const pair of header.split(';')) {
    const [name, value] = pair.trim().split('=');
    if (name === cookieName && value !== undefined) return value;
  }
  return null;
}
