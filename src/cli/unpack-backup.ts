/**
 * Unpacks a backup into an empty folder, completely and onto the disk, or fails with a sentence about the archive.
 * Nothing outside that folder is written: the reader refuses names that lead out of it or through a link.
 */
import { createReadStream } from 'node:fs';
import { mkdir, open, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { PassThrough } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { readTar, type TarEntry } from '../lib/tar.ts';
import { CliError } from './command.ts';

/** Returns how many files there were. `source` is a path, for the messages too. */
export async function unpackBackup(source: string, folder: string, signal: AbortSignal): Promise<number> {
  const bytes = new PassThrough();
  const reading = pipeline(createReadStream(source), createGunzip(), bytes, { signal });
  // Whatever goes wrong in it is met by the loop below, as the stream it reads from breaks off with the same error.
  reading.catch(() => {});
  let files = 0;
  try {
    for await (const entry of readTar(bytes)) {
      signal.throwIfAborted();
      await unpackEntry(entry, folder);
      if (entry.header.kind === 'file') files++;
    }
    await reading;
  } catch (error) {
    signal.throwIfAborted();
    throw explained(error, source);
  }
  return files;
}

async function unpackEntry({ header, body }: TarEntry, folder: string): Promise<void> {
  const path = join(folder, header.name);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  switch (header.kind) {
    case 'folder':
      await mkdir(path, { recursive: true, mode: header.mode & 0o777 });
      return;
    case 'symlink':
      await symlink(header.target, path);
      return;
    case 'file': {
      // Ours alone until it is whole; `wx` refuses an archive that has the same name twice.
      const file = await open(path, 'wx', 0o600);
      try {
        for await (const chunk of body) await file.writeFile(chunk);
        await file.chmod(header.mode & 0o777);
        await file.utimes(header.modifiedMs / 1_000, header.modifiedMs / 1_000);
        await file.sync();
      } finally {
        await file.close();
      }
    }
  }
}

function explained(error: unknown, source: string): unknown {
  if (!(error instanceof Error)) return error;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  const isUnreadable = error.name === 'TarError' || code.startsWith('Z_') || code === 'EEXIST';
  if (!isUnreadable) return error;
  const detail = error.message.replace(/\.$/, '');
  return new CliError('failed', `${source} is not a whole backup (${detail}); nothing was changed, use another copy`, {
    cause: error,
  });
}
