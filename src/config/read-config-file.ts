/** Reads one of the operator's files. Whatever is wrong with it becomes a sentence; a missing file is no mistake. */
import { readFile, stat } from 'node:fs/promises';
import { tooLarge } from './decode-text.ts';

export type ConfigFileContent =
  | { readonly kind: 'missing' }
  | { readonly kind: 'read'; readonly bytes: Uint8Array; readonly mode: number }
  | { readonly kind: 'failed'; readonly message: string };

export async function readConfigFile(path: string, bytesMax: number): Promise<ConfigFileContent> {
  try {
    const found = await stat(path);
    if (found.isDirectory()) return failed('this is a folder; it must be a file');
    // Reading a pipe or a device might never end.
    if (!found.isFile()) return failed('this is not a regular file');
    if (found.size > bytesMax) return failed(tooLarge(bytesMax));
    return { kind: 'read', bytes: await readFile(path), mode: found.mode & 0o777 };
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    if (code === 'ENOENT') return { kind: 'missing' };
    if (code === 'EACCES' || code === 'EPERM') return failed("this file can't be read; give this user access to it");
    return failed(`this file can't be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function failed(message: string): ConfigFileContent {
  return { kind: 'failed', message };
}
