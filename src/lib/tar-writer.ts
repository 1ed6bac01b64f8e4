/** Entries to the bytes of an archive. Names are the caller's; a body must be as long as its header says. */
import { assert } from './assert.ts';
import { blockSize, encodeBlock, encodePax, fitsBlock, octalMax } from './tar-block.ts';
import { TarError, type TarEntry, type TarHeader } from './tar-entry.ts';

export async function* tarEntries(entries: AsyncIterable<TarEntry>): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const { header, body } of entries) {
    yield* encodeHeader(header);
    if (header.kind !== 'file') continue;
    yield* exactly(header, body);
    const over = header.size % blockSize;
    if (over > 0) yield new Uint8Array(blockSize - over);
  }
  yield new Uint8Array(2 * blockSize);
}

function* encodeHeader(header: TarHeader): Generator<Uint8Array> {
  const size = header.kind === 'file' ? header.size : 0;
  const name = header.kind === 'folder' ? `${header.name}/` : header.name;
  const linkName = header.kind === 'symlink' ? header.target : '';
  assert(header.name !== '' && !name.startsWith('/') && !name.endsWith('//'), `bad name for an archive: ${name}`);
  assert(Number.isSafeInteger(size) && size >= 0, `bad size in an archive: ${size}`);

  const records = new Map<string, string>();
  if (!fitsBlock(name)) records.set('path', name);
  if (!fitsBlock(linkName)) records.set('linkpath', linkName);
  if (size > octalMax) records.set('size', String(size));
  if (records.size > 0) {
    const pax = encodePax(records);
    yield encodeBlock({ ...plain, name: 'PaxHeader', type: 'x', size: pax.length });
    yield pax;
    yield new Uint8Array((blockSize - (pax.length % blockSize)) % blockSize);
  }
  yield encodeBlock({
    name: records.has('path') ? 'long-name' : name,
    mode: header.kind === 'symlink' ? 0o777 : header.mode & 0o7777,
    size: records.has('size') ? 0 : size,
    modifiedS: Math.min(Math.max(0, Math.floor(header.modifiedMs / 1000)), octalMax),
    type: { file: '0', folder: '5', symlink: '2' }[header.kind],
    linkName: records.has('linkpath') ? 'long-name' : linkName,
  });
}

const plain = { mode: 0o644, modifiedS: 0, linkName: '' };

/** Another length would shift everything that follows: better no archive than one that looks whole. */
async function* exactly(header: TarHeader & { kind: 'file' }, body: AsyncIterable<Uint8Array>) {
  let left = header.size;
  for await (const chunk of body) {
    left -= chunk.length;
    if (left < 0) break;
    yield chunk;
  }
  if (left === 0) return;
  throw new TarError('size-changed', `${header.name} changed its size while it was archived. Try again.`);
}
