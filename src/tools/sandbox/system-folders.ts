/**
 * What of the machine's own files is seen in a sandbox: programs, libraries and the part of `/etc` that they need. An
 * allow list, because `/etc` is full of keys and passwords that root, and so a command of root's, can read.
 */
import { lstat, readlink, realpath } from 'node:fs/promises';
import { words } from './quote.ts';

export type SystemEntry =
  | { readonly kind: 'read'; readonly path: string; readonly source: string }
  | { readonly kind: 'link'; readonly path: string; readonly target: string };

const folders = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32', '/opt', '/nix/store', '/gnu/store'];

/** Few: every one of them is a mount, and a start gets slower with each. */
const settings = words(
  'alternatives ld.so.cache nsswitch.conf passwd group hosts resolv.conf protocols services localtime os-release',
  'ssl/certs ssl/cert.pem ssl/openssl.cnf crypto-policies',
  'pki/tls/certs pki/tls/cert.pem pki/tls/openssl.cnf pki/ca-trust/extracted',
  'gitconfig mime.types fonts terminfo perl python3 java-11-openjdk java-17-openjdk java-21-openjdk java-25-openjdk',
).map((name) => `/etc/${name}`);

export async function systemEntries(): Promise<SystemEntry[]> {
  const entries = await Promise.all([...folders, ...settings].map(entryFor));
  return entries.filter((entry) => entry !== null);
}

async function entryFor(path: string): Promise<SystemEntry | null> {
  try {
    const stats = await lstat(path);
    if (!stats.isSymbolicLink()) return { kind: 'read', path, source: path };
    const target = await readlink(path);
    const real = await realpath(path);
    const isSeenAnyway = folders.some((folder) => real.startsWith(`${folder}/`) || real === folder);
    return isSeenAnyway ? { kind: 'link', path, target } : { kind: 'read', path, source: real };
  } catch {
    // This system does not have it.
    return null;
  }
}
