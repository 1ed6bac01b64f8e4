/**
 * The 512-byte header of a tar entry, in its ustar layout, and the pax records that carry what does not fit into it.
 * Only bytes to fields and back; what the fields mean is decided by the writer and the reader.
 */
import { assert } from './assert.ts';
import { damagedArchive } from './tar-entry.ts';

export const blockSize = 512;

/** The largest number that eleven octal digits hold: 8 GiB less one byte. */
export const octalMax = 8 ** 11 - 1;

export interface TarBlock {
  /** With the ustar prefix in front, if there was one. */
  readonly name: string;
  readonly mode: number;
  readonly size: number;
  readonly modifiedS: number;
  /** One letter; `0` is a file. */
  readonly type: string;
  readonly linkName: string;
}

/** Where the fields stand: offset and length. */
const fields = {
  name: [0, 100],
  mode: [100, 8],
  userId: [108, 8],
  groupId: [116, 8],
  size: [124, 12],
  modifiedS: [136, 12],
  checksum: [148, 8],
  type: [156, 1],
  linkName: [157, 100],
  magic: [257, 8],
  prefix: [345, 155],
} as const;

type Field = keyof typeof fields;

const encoder = new TextEncoder();

/** Whether a name can stand in the header itself; others go into a pax record. */
export function fitsBlock(name: string): boolean {
  return name.length <= fields.name[1] && /^[\x20-\x7e]*$/.test(name);
}

export function encodeBlock(entry: TarBlock): Uint8Array<ArrayBuffer> {
  const block = new Uint8Array(blockSize);
  const put = (field: Field, text: string) => {
    assert(fitsBlock(text) && text.length <= fields[field][1], `${field} does not fit a tar header: ${text}`);
    encoder.encodeInto(text, block.subarray(fields[field][0]));
  };
  const putNumber = (field: Field, value: number) => {
    put(field, value.toString(8).padStart(fields[field][1] - 1, '0'));
  };
  put('name', entry.name);
  putNumber('mode', entry.mode);
  putNumber('userId', 0);
  putNumber('groupId', 0);
  putNumber('size', entry.size);
  putNumber('modifiedS', entry.modifiedS);
  put('type', entry.type);
  put('linkName', entry.linkName);
  block.set(encoder.encode('ustar\x0000'), fields.magic[0]);
  putNumber('checksum', checksumOf(block));
  return block;
}

/** Null for a block of zeros, of which two end an archive. */
export function decodeBlock(block: Uint8Array): TarBlock | null {
  assert(block.length === blockSize, 'a tar header is one block');
  if (block.every((byte) => byte === 0)) return null;
  const bytesOf = (field: Field) => block.subarray(fields[field][0], fields[field][0] + fields[field][1]);
  const text = (field: Field) => decodeName(upToNul(bytesOf(field)));
  const number = (field: Field) => decodeNumber(bytesOf(field));
  if (number('checksum') !== checksumOf(block)) throw damagedArchive();
  // GNU's own format, `ustar` and spaces, has other things where ustar has the prefix.
  const prefix = text('magic') === 'ustar' ? text('prefix') : '';
  return {
    name: prefix === '' ? text('name') : `${prefix}/${text('name')}`,
    mode: number('mode'),
    size: number('size'),
    modifiedS: number('modifiedS'),
    type: text('type') === '' ? '0' : text('type'),
    linkName: text('linkName'),
  };
}

function checksumOf(block: Uint8Array): number {
  const [start, length] = fields.checksum;
  // The checksum's own place counts as spaces.
  return block.reduce((sum, byte, index) => sum + (index >= start && index < start + length ? 0x20 : byte), 0);
}

/** Octal digits among spaces; or, for what is larger, GNU's binary with the highest bit set. */
function decodeNumber(bytes: Uint8Array): number {
  const [first = 0, ...rest] = bytes;
  const text = first === 0x80 ? '' : decodeName(upToNul(bytes)).trim();
  const value = first === 0x80 ? rest.reduce((sum, byte) => sum * 256 + byte, 0) : Number.parseInt(text || '0', 8);
  if ((first === 0x80 || /^[0-7]*$/.test(text)) && Number.isSafeInteger(value)) return value;
  throw damagedArchive();
}

export function upToNul(bytes: Uint8Array): Uint8Array {
  const end = bytes.indexOf(0);
  return end === -1 ? bytes : bytes.subarray(0, end);
}

export function decodeName(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw damagedArchive();
  }
}

/** `LENGTH KEY=VALUE\n`, where the length counts its own digits too. */
export function encodePax(records: ReadonlyMap<string, string>): Uint8Array {
  let text = '';
  for (const [key, value] of records) {
    const rest = encoder.encode(` ${key}=${value}\n`).length;
    let length = rest + 1;
    while (String(length).length + rest !== length) length = String(length).length + rest;
    text += `${length} ${key}=${value}\n`;
  }
  return encoder.encode(text);
}

export function decodePax(bytes: Uint8Array): Map<string, string> {
  const records = new Map<string, string>();
  for (let rest = bytes; rest.length > 0;) {
    const space = rest.indexOf(0x20);
    const digits = decodeName(rest.subarray(0, Math.max(space, 0)));
    const length = /^\d{1,9}$/.test(digits) ? Number(digits) : 0;
    const [, key, value] = /^([^=]+)=(.*)\n$/s.exec(decodeName(rest.subarray(space + 1, length))) ?? [];
    if (key === undefined || value === undefined || length > rest.length) throw damagedArchive();
    records.set(key, value);
    rest = rest.subarray(length);
  }
  return records;
}
