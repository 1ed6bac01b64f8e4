/**
 * The entries of a zip archive, in the words of a tar's. Only what every zip program writes: stored or deflated, no
 * encryption, not in several parts, at most what its directory says in size. The directory at its end is what counts; an
 * entry whose own header names another file, or whose checksum is wrong, ends it with a `SkillError`.
 */
import { readFile } from 'node:fs/promises';
import { crc32, inflateRawSync } from 'node:zlib';
import type { TarEntry } from '../../lib/tar.ts';
import { once } from './folder-entries.ts';
import { SkillError } from './skill-error.ts';
import { fileBytesMax, pathCharsMax } from './skill-limits.ts';

const endSignature = 0x06054b50;
const directorySignature = 0x02014b50;
const localSignature = 0x04034b50;
const endBytes = 22;
const commentBytesMax = 0xffff;
const fileTypes = 0o170000;
const unixSystem = 3;

export async function* readZip(path: string): AsyncGenerator<TarEntry> {
  const archive = await readFile(path);
  for (const record of directoryOf(archive)) yield toEntry(archive, record);
}

interface ZipRecord {
  readonly name: string;
  readonly flags: number;
  readonly method: number;
  readonly checksum: number;
  readonly packedSize: number;
  readonly size: number;
  /** Of a file on Unix; 0 if nobody said. */
  readonly mode: number;
  readonly offset: number;
}

function* directoryOf(archive: Buffer): Generator<ZipRecord> {
  const end = findEnd(archive);
  const count = archive.readUInt16LE(end + 10);
  const size = archive.readUInt32LE(end + 12);
  let at = archive.readUInt32LE(end + 16);
  const isSplit = archive.readUInt32LE(end + 4) !== 0 || archive.readUInt16LE(end + 8) !== count;
  if (isSplit || at + size > end) throw damaged('its directory is not where it should be');
  for (let index = 0; index < count; index += 1) {
    if (at + 46 > end || archive.readUInt32LE(at) !== directorySignature) throw damaged('its directory is cut off');
    const [nameBytes, extraBytes, commentBytes] = [28, 30, 32].map((field) => archive.readUInt16LE(at + field));
    const next = at + 46 + (nameBytes ?? 0) + (extraBytes ?? 0) + (commentBytes ?? 0);
    if (next > end) throw damaged('its directory is cut off');
    const isUnix = archive.readUInt8(at + 5) === unixSystem;
    yield {
      name: nameIn(archive, at + 46, nameBytes ?? 0),
      flags: archive.readUInt16LE(at + 8),
      method: archive.readUInt16LE(at + 10),
      checksum: archive.readUInt32LE(at + 16),
      packedSize: archive.readUInt32LE(at + 20),
      size: archive.readUInt32LE(at + 24),
      mode: isUnix ? archive.readUInt32LE(at + 38) >>> 16 : 0,
      offset: archive.readUInt32LE(at + 42),
    };
    at = next;
  }
}

function findEnd(archive: Buffer): number {
  for (let at = archive.length - endBytes; at >= 0 && at >= archive.length - endBytes - commentBytesMax; at -= 1) {
    if (archive.readUInt32LE(at) === endSignature && at + endBytes + archive.readUInt16LE(at + 20) === archive.length)
      return at;
  }
  throw damaged('it has no end');
}

function toEntry(archive: Buffer, record: ZipRecord): TarEntry {
  const { name: written, mode, size } = record;
  const parts = written.split('/');
  if (/[\0\\]/.test(written))
    throw damaged(`${JSON.stringify(written)} is no name for a file; between folders stands /`);
  if (written.startsWith('/') || parts.includes('..')) {
    throw damaged(`${JSON.stringify(written)} leads out of its folder`);
  }
  const name = parts.filter((part) => part !== '' && part !== '.').join('/');
  const common = { name, modifiedMs: 0 };
  const type = mode & fileTypes;
  if (type === 0o120000) return { header: { kind: 'symlink', ...common, target: '?' }, body: once(new Uint8Array()) };
  if (written.endsWith('/'))
    return { header: { kind: 'folder', ...common, mode: 0o700 }, body: once(new Uint8Array()) };
  if (type !== 0 && type !== 0o100000) throw damaged(`${JSON.stringify(written)} is no regular file`);
  return { header: { kind: 'file', ...common, mode: mode & 0o777, size }, body: unpack(archive, record) };
}

/** Unpacked only when it is read: what is too large or not wanted costs nothing. */
async function* unpack(archive: Buffer, record: ZipRecord): AsyncGenerator<Uint8Array> {
  const { name, flags, method, packedSize, size, offset, checksum } = record;
  const shown = JSON.stringify(name);
  if ((flags & 1) !== 0) throw damaged(`${shown} is encrypted`);
  if (size > fileBytesMax) throw damaged(`${shown} is too large`);
  if (offset + 30 > archive.length || archive.readUInt32LE(offset) !== localSignature)
    throw damaged(`${shown} is not there`);
  const nameBytes = archive.readUInt16LE(offset + 26);
  if (nameIn(archive, offset + 30, nameBytes) !== name) throw damaged(`${shown} has two names`);
  const start = offset + 30 + nameBytes + archive.readUInt16LE(offset + 28);
  const packed = archive.subarray(start, start + packedSize);
  const bytes = method === 0 ? packed : method === 8 ? inflated(packed, size, shown) : null;
  if (bytes === null) throw damaged(`${shown} is packed in a way that is not known here`);
  if (bytes.length !== size || crc32(bytes) !== checksum) throw damaged(`${shown} is not whole`);
  yield* once(bytes);
}

function inflated(packed: Uint8Array, size: number, shown: string): Uint8Array {
  try {
    return inflateRawSync(packed, { maxOutputLength: Math.max(size, 1) });
  } catch (error) {
    throw damaged(`${shown} is not whole, or larger than it says`, error);
  }
}

function nameIn(archive: Buffer, start: number, bytes: number): string {
  if (bytes > 4 * pathCharsMax || start + bytes > archive.length) throw damaged('it has names that are too long');
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(archive.subarray(start, start + bytes));
  } catch (error) {
    throw damaged('it has names that are no UTF-8', error);
  }
}

function damaged(why: string, cause?: unknown): SkillError {
  return new SkillError(`The zip archive is refused: ${why}. Nothing was installed.`, { cause });
}
