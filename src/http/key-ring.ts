/**
 * All keys that open the server, each with a name: those that are stored as hashes, and the plain one of the
 * configuration. Asked at every request, so that a new or revoked key counts at once. Every key is looked at every time,
 * and hashes are compared in constant time: how long it takes tells nothing of what was nearly right.
 */
import { timingSafeEqual } from 'node:crypto';
import { credentialOf, hashCredential, hashKey, type Credential } from './access-key.ts';
import type { HttpRequest } from './http-message.ts';

/** The name of the key that stands in the configuration. No stored key can have it: those have no spaces. */
export const plainKeyName = 'the configuration';

export interface KeyHash {
  readonly name: string;
  /** As `hashKey` makes it. */
  readonly sha256: string;
}

export interface KeyRingDeps {
  readonly hashes: () => readonly KeyHash[];
  readonly plain: () => string | null;
}

export interface KeyRing {
  /** Whether there is any key. Without one, whoever reaches the server may use it. */
  isLocked(): boolean;
  /** Whose key the request shows; null if none, or one that does not fit. */
  identify(request: Pick<HttpRequest, 'header'>): { readonly name: string } | null;
  /** Whose key this is, typed into a form. */
  identifyKey(key: string): { readonly name: string } | null;
}

export function createKeyRing(deps: KeyRingDeps): KeyRing {
  const all = (): KeyHash[] => {
    const plain = deps.plain();
    return plain === null ? [...deps.hashes()] : [...deps.hashes(), { name: plainKeyName, sha256: hashKey(plain) }];
  };
  const find = (credential: Credential): { name: string } | null => {
    const shown = Buffer.from(hashCredential(credential), 'hex');
    let found: { name: string } | null = null;
    for (const { name, sha256 } of all()) if (isSame(shown, Buffer.from(sha256, 'hex'))) found = { name };
    return found;
  };
  return {
    isLocked: () => deps.plain() !== null || deps.hashes().length > 0,
    identify(request) {
      const credential = credentialOf(request);
      return credential === null ? null : find(credential);
    },
    identifyKey: (key) => find({ kind: 'bearer', secret: key }),
  };
}

/** A stored hash that is broken fits nothing. */
function isSame(shown: Buffer, stored: Buffer): boolean {
  return stored.byteLength === shown.byteLength && timingSafeEqual(shown, stored);
}
