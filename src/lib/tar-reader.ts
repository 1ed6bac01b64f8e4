/**
 * The bytes of an archive to entries, one after the other. An archive may come from anywhere: names that leave the
 * folder, names that lead through a link of the same archive, devices and hard links are refused, and an archive
 * that ends early is never taken for a whole one. A body that its reader leaves unread is skipped; it can't be read
 * after the next entry was asked for. Where a symbolic link points is for the caller to judge.
 */
import { blockSize, decodeBlock, decodeName, decodePax, upToNul, type TarBlock } from './tar-block.ts';
import { damagedArchive, TarError, type TarEntry, type TarHeader } from './tar-entry.ts';

/** Room for two names of the longest kind, and some. */
const extensionBytesMax = 64 * 1024;
const symlinksMax = 10_000;
/** Archives are padded at their end, by GNU tar to 10 KiB. */
const trailingBytesMax = 16 * 1024 * 1024;

export async function* readTar(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<TarEntry, void, undefined> {
  const source = new ByteSource(bytes);
  const guard = new NameGuard();
  try {
    for (;;) {
      const block = await nextEntry(source);
      if (block === null) break;
      const header = toHeader(block);
      const unread = { left: block.size };
      if (header !== null) {
        guard.check(header);
        yield { header, body: readBody(source, unread) };
      }
      await source.skip(unread.left + padding(block.size));
    }
    await source.drain();
  } finally {
    await source.close();
  }
}

async function* readBody(source: ByteSource, unread: { left: number }): AsyncGenerator<Uint8Array, void, undefined> {
  while (unread.left > 0) {
    const chunk = await source.take(unread.left);
    unread.left -= chunk.length;
    yield chunk;
  }
}

/** The next header with what the extensions before it say, or null at the archive's end. */
async function nextEntry(source: ByteSource): Promise<TarBlock | null> {
  let extensions: Partial<TarBlock> = {};
  for (;;) {
    const block = decodeBlock(await source.exactly(blockSize));
    if (block === null) {
      if (decodeBlock(await source.exactly(blockSize)) === null) return null;
      throw damagedArchive();
    }
    if (!'xgLK'.includes(block.type)) return { ...block, ...extensions };
    if (block.size > extensionBytesMax) throw new TarError('unsupported', 'The archive has names that are too long.');
    const text = await source.exactly(block.size);
    await source.skip(padding(block.size));
    if (block.type === 'x') extensions = { ...extensions, ...fromPax(decodePax(text)) };
    if (block.type === 'L') extensions = { ...extensions, name: decodeName(upToNul(text)) };
    if (block.type === 'K') extensions = { ...extensions, linkName: decodeName(upToNul(text)) };
  }
}

function fromPax(records: ReadonlyMap<string, string>): Partial<TarBlock> {
  const [name, linkName, size, modified] = ['path', 'linkpath', 'size', 'mtime'].map((key) => records.get(key));
  const isBad = (text: string | undefined, pattern: RegExp) => text !== undefined && !pattern.test(text);
  if (isBad(size, /^\d{1,15}$/) || isBad(modified, /^-?\d{1,12}(\.\d*)?$/)) throw damagedArchive();
  return {
    ...(name !== undefined && { name }),
    ...(linkName !== undefined && { linkName }),
    ...(size !== undefined && { size: Number(size) }),
    ...(modified !== undefined && { modifiedS: Number.parseFloat(modified) }),
  };
}

/** Null for the folder itself that is unpacked, which needs no entry. */
function toHeader(block: TarBlock): TarHeader | null {
  const name = safeName(block.name);
  const common = { name, modifiedMs: Math.floor(block.modifiedS * 1000) };
  // Archives from before ustar mark a folder by its name only.
  const type = block.type === '0' && block.name.endsWith('/') ? '5' : block.type;
  if (type !== '0' && block.size > 0)
    throw new TarError('unsupported', `The archive has a strange entry, ${JSON.stringify(name)}.`);
  switch (type) {
    case '0':
      if (name === '') break;
      return { kind: 'file', ...common, mode: block.mode & 0o777, size: block.size };
    case '5':
      return name === '' ? null : { kind: 'folder', ...common, mode: block.mode & 0o777 };
    case '2':
      if (name === '' || block.linkName === '' || block.linkName.includes('\0')) break;
      return { kind: 'symlink', ...common, target: block.linkName };
    default:
      throw new TarError(
        'unsupported',
        `The archive has ${JSON.stringify(name)}, which is no file, folder or symbolic link. Make it again without.`,
      );
  }
  throw new TarError('unsafe-name', `The archive has an entry without a name. It was not unpacked further.`);
}

function safeName(name: string): string {
  const parts = name.split('/');
  if (name.startsWith('/') || name.includes('\0') || parts.includes('..')) {
    throw new TarError(
      'unsafe-name',
      `The archive has ${JSON.stringify(name)}, which leads out of its folder. Do not trust it.`,
    );
  }
  return parts.filter((part) => part !== '' && part !== '.').join('/');
}

/** Refuses what would be written through a symbolic link that the archive itself brings. */
class NameGuard {
  readonly #links = new Set<string>();

  check({ kind, name }: TarHeader): void {
    // Some file systems take names that differ only in case or in composition for the same.
    const parts = name.normalize('NFC').toLowerCase().split('/');
    for (let count = 1; count <= parts.length; count++) {
      if (!this.#links.has(parts.slice(0, count).join('/'))) continue;
      throw new TarError(
        'unsafe-name',
        `The archive has ${JSON.stringify(name)} behind a symbolic link. Do not trust it.`,
      );
    }
    if (kind !== 'symlink') return;
    if (this.#links.size >= symlinksMax) throw new TarError('unsupported', 'The archive has too many symbolic links.');
    this.#links.add(parts.join('/'));
  }
}

function padding(size: number): number {
  return (blockSize - (size % blockSize)) % blockSize;
}

/** Chunks of any size, taken in the sizes that are needed. Every end that comes too early is an error. */
class ByteSource {
  readonly #chunks: AsyncIterator<Uint8Array>;
  #chunk: Uint8Array = new Uint8Array();

  constructor(bytes: AsyncIterable<Uint8Array>) {
    this.#chunks = bytes[Symbol.asyncIterator]();
  }

  /** At least one byte and at most so many, without copying. */
  async take(bytesMax: number): Promise<Uint8Array> {
    while (this.#chunk.length === 0) {
      const next = await this.#chunks.next();
      if (next.done) throw new TarError('truncated', 'The archive is cut off before its end. Use a complete copy.');
      this.#chunk = next.value;
    }
    const taken = this.#chunk.subarray(0, bytesMax);
    this.#chunk = this.#chunk.subarray(taken.length);
    return taken;
  }

  async exactly(count: number): Promise<Uint8Array> {
    const bytes = new Uint8Array(count);
    for (let filled = 0; filled < count;) {
      const part = await this.take(count - filled);
      bytes.set(part, filled);
      filled += part.length;
    }
    return bytes;
  }

  async skip(count: number): Promise<void> {
    for (let left = count; left > 0;) left -= (await this.take(left)).length;
  }

  /** Reads on to the end of the stream, so that an error which only comes there (a wrong gzip checksum) is not missed. */
  async drain(): Promise<void> {
    for (let trailing = this.#chunk.length; trailing <= trailingBytesMax;) {
      const next = await this.#chunks.next();
      if (next.done) return;
      trailing += next.value.length;
    }
    throw damagedArchive();
  }

  async close(): Promise<void> {
    await this.#chunks.return?.();
  }
}
