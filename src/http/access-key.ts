/**
 * The key that opens the server: as a bearer token, or as the cookie a browser got for it. The cookie is derived from
 * the key, so it survives a restart and dies with the key. Compared in constant time.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { HttpRequest } from './http-message.ts';

const cookieName = 'talaria_login';
const cookieDays = 30;

export function presentsKey(request: Pick<HttpRequest, 'header'>, key: string): boolean {
  const bearer = /^Bearer +(.+)$/i.exec(request.header('authorization') ?? '')?.[1];
  if (bearer !== undefined) return equal(bearer, key);
  const cookie = cookieOf(request.header('cookie') ?? '');
  return cookie !== null && equal(cookie, tokenFor(key));
}

export function isKey(candidate: string, key: string): boolean {
  return equal(candidate, key);
}

/** The Set-Cookie header of a browser that has shown the key. */
export function loginCookie(key: string): string {
  return `${cookieName}=${tokenFor(key)}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${cookieDays * 86_400}`;
}

function tokenFor(key: string): string {
  return createHmac('sha256', key).update('talaria web login').digest('hex');
}

function cookieOf(header: string): string | null {
  for (const pair of header.split(';')) {
    const [name, value] = pair.trim().split('=');
    if (name === cookieName && value !== undefined) return value;
  }
  return null;
}

/** Hashed first, so that neither content nor length shows in the time it takes. */
function equal(a: string, b: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}
