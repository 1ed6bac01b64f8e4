/**
 * An archive (.tar, .tar.gz or .zip) as a source of skills. It may come from anywhere: names that lead out, links, devices
 * and bombs end it with a `SkillError`, and nothing is written here. It is read once to find the skills in it, and once
 * more for each that is wanted.
 */
import { createReadStream } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { PassThrough } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { readTar, type TarEntry } from '../../lib/tar.ts';
import { SkillError } from './skill-error.ts';
import { skillPaths, type OpenedSource } from './skill-source.ts';

const archiveBytesMax = 50 * 1024 * 1024;
/** All of it, unpacked. */
const unpackedBytesMax = 200 * 1024 * 1024;
const entriesMax = 20_000;
/** Where a tar says that it is one. */
const tarMarkAt = 257;
const startBytes = tarMarkAt + 'ustar'.length;

type Entries = () => AsyncIterable<TarEntry>;

export async function openArchiveSource(path: string, signal: AbortSignal): Promise<OpenedSource> {
  const { size } = await stat(path);
  if (size > archiveBytesMax) throw new SkillError(`${path} has ${size} bytes; at most ${archiveBytesMax} are taken.`);
  const entries = await entriesOf(path, signal);
  const files: string[] = [];
  await explaining(path, async () => {
    for await (const { header } of entries()) {
      if (header.kind === 'file') files.push(header.name);
      if (files.length > entriesMax) throw new SkillError(`${path} has more than ${entriesMax} files.`);
    }
  });
  return {
    kind: 'archive',
    location: path,
    revision: null,
    paths: skillPaths(files, path),
    entries: (below) => entriesBelow(entries, below),
    close: () => Promise.resolve(),
  };
}

async function entriesOf(path: string, signal: AbortSignal): Promise<Entries> {
  const start = await firstBytes(path);
  if (start.subarray(0, 2).toString('latin1') === 'PK') {
    const { readZip } = await import('./zip-entries.ts');
    return () => readZip(path);
  }
  const isGzip = start[0] === 0x1f && start[1] === 0x8b;
  if (!isGzip && start.subarray(tarMarkAt).toString('latin1') !== 'ustar') {
    throw new SkillError(`${path} is no .tar, .tar.gz or .zip archive. Unpack it yourself and install the folder.`);
  }
  return () => readTar(bounded(unpacked(path, isGzip, signal), path));
}

async function* unpacked(path: string, isGzip: boolean, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  if (!isGzip) {
    yield* createReadStream(path, { signal }) as AsyncIterable<Uint8Array>;
    return;
  }
  const bytes = new PassThrough();
  const reading = pipeline(createReadStream(path), createGunzip(), bytes, { signal });
  // Whatever goes wrong in it is met by the loop below, as the stream it reads from breaks off with the same error.
  reading.catch(() => {});
  try {
    yield* bytes as AsyncIterable<Uint8Array>;
    await reading;
  } finally {
    bytes.destroy();
  }
}

async function* bounded(bytes: AsyncIterable<Uint8Array>, path: string): AsyncGenerator<Uint8Array> {
  let total = 0;
  for await (const chunk of bytes) {
    total += chunk.length;
    if (total > unpackedBytesMax)
      throw new SkillError(`${path} unpacks to more than ${unpackedBytesMax} bytes; it is refused.`);
    yield chunk;
  }
}

async function* entriesBelow(entries: Entries, below: string): AsyncGenerator<TarEntry> {
  const prefix = below === '' ? '' : `${below}/`;
  for await (const { header, body } of entries()) {
    if (header.name.length <= prefix.length || !header.name.startsWith(prefix)) continue;
    yield { header: { ...header, name: header.name.slice(prefix.length) }, body };
  }
}

/** What is wrong with the archive, in words for the person. */
async function explaining<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    if (error instanceof Error && (error.name === 'TarError' || code.startsWith('Z_'))) {
      const advice = 'It is refused; nothing was installed.';
      throw new SkillError(`${path} can't be used: ${error.message.replace(/\.?$/, '.')} ${advice}`, { cause: error });
    }
    throw error;
  }
}

async function firstBytes(path: string): Promise<Buffer> {
  const file = await open(path, 'r');
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(startBytes), 0, startBytes, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}
