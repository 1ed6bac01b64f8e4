/**
 * The whole home as one .tar.gz, while everything goes on. The database is copied through SQLite, at one moment; other
 * files are taken as they are. What is left out can be rebuilt (the search index) or belongs to the running process.
 */
import { createReadStream } from 'node:fs';
import { lstat, mkdtemp, readdir, readFile, readlink, rm } from 'node:fs/promises';
import { isAbsolute, join, relative } from 'node:path';
import { Readable } from 'node:stream';
import { createGzip } from 'node:zlib';
import { tarEntries, type TarEntry } from '../lib/tar.ts';
import type { Store } from '../store/store.ts';

/** Up to this size a file is read in one go, so that it may change afterwards; a larger one must hold still. */
const wholeFileBytesMax = 16_000_000;
const scratchPrefix = '.backup-';

/** In the home itself: what can be made again, or belongs to programs that run now. */
const leftOut = /^(?:search\.db|home\.lock|holder\.json|\.backup-|\.restore-|\.probe-|before-restore-|run$|browser$)/;
/** What MCP servers keep for themselves: copies of what they load. */
const serversOwn = 'mcp/homes';

/** `databasePath` is where the store's file is; it need not be in the home. */
export async function* backupHome(home: string, databasePath: string, store: Store): AsyncGenerator<Uint8Array> {
  const scratch = await mkdtemp(join(home, scratchPrefix));
  try {
    const copy = join(scratch, 'state.db');
    await store.snapshot(copy);
    const inside = relative(home, databasePath);
    const name = inside.startsWith('..') || isAbsolute(inside) ? 'state.db' : inside;
    const archive = Readable.from(tarEntries(everything(home, copy, name)), { objectMode: false });
    const packed = archive.pipe(createGzip());
    archive.on('error', (error) => packed.destroy(error));
    yield* packed as AsyncIterable<Uint8Array>;
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** The copy stands in for the database and the files that SQLite keeps beside it. */
async function* everything(home: string, databaseCopy: string, databaseName: string): AsyncGenerator<TarEntry> {
  yield* entryFor(databaseCopy, databaseName);
  const isLeftOut = (name: string) =>
    name === serversOwn || (name.startsWith(databaseName) && /^(?:|-wal|-shm)$/.test(name.slice(databaseName.length)));
  for (const name of (await readdir(home)).sort()) {
    if (!leftOut.test(name)) yield* tree(join(home, name), name, isLeftOut);
  }
}

async function* tree(path: string, name: string, isLeftOut: (name: string) => boolean): AsyncGenerator<TarEntry> {
  if (isLeftOut(name)) return;
  yield* entryFor(path, name);
  const stats = await lstat(path).catch(() => null);
  if (stats === null || !stats.isDirectory()) return;
  // A folder may go while everything goes on.
  for (const child of ((await readdir(path).catch(unlessGone)) ?? []).sort())
    yield* tree(join(path, child), `${name}/${child}`, isLeftOut);
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
      const bytes = await readFile(path).catch(unlessGone);
      if (bytes === null) return;
      yield { header: { kind: 'file', name, mode, modifiedMs, size: bytes.length }, body: only(bytes) };
    }
  }
}

async function* nothing(): AsyncGenerator<Uint8Array> {}

async function* only(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

/** Null for what is gone meanwhile. */
function unlessGone(error: unknown): null {
  if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR')) return null;
  throw error;
}
