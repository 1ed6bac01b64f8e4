/**
 * The whole home as one .tar.gz, while everything goes on. The database is copied through SQLite, at one moment; other
 * files are taken as they are. What is left out can be rebuilt (the search index) or belongs to the running process.
 */
import { createReadStream } from 'node:fs';
import { lstat, mkdtemp, readdir, readFile, readlink, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { createGzip } from 'node:zlib';
import { tarEntries, type TarEntry } from '../lib/tar.ts';
import type { Store } from '../store/store.ts';

/** Up to this size a file is read in one go, so that it may change afterwards; a larger one must hold still. */
const wholeFileBytesMax = 16_000_000;
const scratchPrefix = '.backup-';

/** Relative to the home. The database is among them because its copy takes its place. */
const leftOut = /^(?:state\.db|search\.db|home\.lock|holder\.json|\.backup-|\.probe-|before-restore-)/;

export async function* backupHome(home: string, store: Store): AsyncGenerator<Uint8Array> {
  const scratch = await mkdtemp(join(home, scratchPrefix));
  try {
    const copy = join(scratch, 'state.db');
    await store.snapshot(copy);
    const archive = Readable.from(tarEntries(everything(home, copy)), { objectMode: false });
    const packed = archive.pipe(createGzip());
    archive.on('error', (error) => packed.destroy(error));
    yield* packed as AsyncIterable<Uint8Array>;
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

async function* everything(home: string, databaseCopy: string): AsyncGenerator<TarEntry> {
  yield* entryFor(databaseCopy, 'state.db');
  const names = (await readdir(home)).filter((name) => !leftOut.test(name)).sort();
  for (const name of names) yield* tree(join(home, name), name);
}

async function* tree(path: string, name: string): AsyncGenerator<TarEntry> {
  yield* entryFor(path, name);
  const stats = await lstat(path).catch(() => null);
  if (stats === null || !stats.isDirectory()) return;
  for (const child of (await readdir(path)).sort()) yield* tree(join(path, child), `${name}/${child}`);
}

/** Nothing for what is gone meanwhile, and for sockets and the like, which have no content. */
async function* entryFor(path: string, name: string): AsyncGenerator<TarEntry> {
  const stats = await lstat(path).catch(() => null);
  if (stats === null) return;
  const { mode, mtimeMs: modifiedMs } = stats;
  if (stats.isDirectory()) yield { header: { kind: 'folder', name, mode, modifiedMs }, body: nothing() };
  else if (stats.isSymbolicLink()) {
    yield { header: { kind: 'symlink', name, modifiedMs, target: await readlink(path) }, body: nothing() };
  } else if (stats.isFile()) {
    if (stats.size > wholeFileBytesMax) {
      const body = createReadStream(path, { end: stats.size - 1 });
      yield { header: { kind: 'file', name, mode, modifiedMs, size: stats.size }, body };
    } else {
      const bytes = await readFile(path);
      yield { header: { kind: 'file', name, mode, modifiedMs, size: bytes.length }, body: only(bytes) };
    }
  }
}

async function* nothing(): AsyncGenerator<Uint8Array> {}

async function* only(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
