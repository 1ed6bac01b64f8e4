/**
 * What is kept of a sign-in at a server: the client that was registered there and its tokens, in a file of its own that
 * only this user can read. It belongs to one address: for another one it is as if there were nothing.
 */
import { mkdir, readFile, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { StoredOAuthClientInformation, StoredOAuthTokens } from '@modelcontextprotocol/client';
import { writeFileAtomically } from '../../lib/atomic-file.ts';
import { isMap } from './clean-schema.ts';

const bytesMax = 1_000_000;

export interface KeptSignIn {
  readonly url: string;
  /** Where the client was registered to be called back. */
  readonly redirectUrl: string | null;
  readonly client: StoredOAuthClientInformation | null;
  readonly tokens: StoredOAuthTokens | null;
}

export interface SignInStore {
  read(): Promise<KeptSignIn>;
  /** Changes some of it, after every change before. */
  change(changes: Partial<Omit<KeptSignIn, 'url'>>): Promise<void>;
}

export function signInPath(home: string, server: string): string {
  return join(home, 'mcp', 'sign-in', `${server}.json`);
}

export function createSignInStore(path: string, url: string): SignInStore {
  const nothing: KeptSignIn = { url, redirectUrl: null, client: null, tokens: null };
  let last: Promise<void> = Promise.resolve();
  const read = async (): Promise<KeptSignIn> => {
    const text = await readFile(path, 'utf8').catch(() => '');
    const kept = parsed(text);
    return kept?.url === url ? { ...nothing, ...kept } : nothing;
  };
  return {
    read,
    change(changes) {
      const next = last.then(async () => {
        await mkdir(dirname(path), { recursive: true, mode: 0o700 });
        await writeFileAtomically(path, `${JSON.stringify({ ...(await read()), ...changes })}\n`, { mode: 0o600 });
      });
      last = next.catch(() => {});
      return next;
    },
  };
}

export function forgetSignIn(home: string, server: string): Promise<void> {
  return rm(signInPath(home, server), { force: true });
}

function parsed(text: string): KeptSignIn | null {
  if (text.length > bytesMax) return null;
  try {
    const value: unknown = JSON.parse(text);
    return isMap(value) && typeof value['url'] === 'string' ? (value as unknown as KeptSignIn) : null;
  } catch {
    // Written by hand, or not at all: the person signs in again.
    return null;
  }
}
