/** A shelf in a folder of its own, and things to put on it or to install from. */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { tarEntries, type TarEntry, type TarHeader } from '../../lib/tar.ts';
import { crc32, deflateRawSync } from 'node:zlib';
import { temporaryFolder } from '../fake-tool-context.ts';
import { createSkillShelf, type SkillShelf } from './skill-shelf.ts';

export const builtInSkills = join(import.meta.dirname, '../../../skills');

export function skillText(name: string, description = `Does ${name}`, body = `# ${name}\n\nDo it.\n`): string {
  return `---\nname: ${name}\ndescription: ${description}\n---\n\n${body}`;
}

/** Writes files below a folder; a text that begins with `#!` may be run. */
export async function writeFiles(
  folder: string,
  files: Readonly<Record<string, string | Uint8Array>>,
): Promise<string> {
  for (const [path, content] of Object.entries(files)) {
    const target = join(folder, path);
    await mkdir(dirname(target), { recursive: true });
    const isScript = typeof content === 'string' && content.startsWith('#!');
    await writeFile(target, content, { mode: isScript ? 0o755 : 0o644 });
  }
  return folder;
}

export interface TestShelf {
  readonly root: string;
  readonly shelf: SkillShelf;
  readonly disabled: string[];
  /** Puts a skill into the home by hand. */
  put(name: string, files?: Readonly<Record<string, string | Uint8Array>>): Promise<string>;
}

type Test = Parameters<typeof temporaryFolder>[0];

export async function testShelf(t: Test, builtInFolder?: string): Promise<TestShelf> {
  const root = await temporaryFolder(t);
  const folder = join(root, 'home', 'skills');
  const disabled: string[] = [];
  await mkdir(folder, { recursive: true });
  const shelf = createSkillShelf({
    folder,
    builtInFolder: builtInFolder ?? join(root, 'none'),
    disabled: () => disabled,
  });
  const put = (name: string, files: Readonly<Record<string, string | Uint8Array>> = { 'SKILL.md': skillText(name) }) =>
    writeFiles(join(folder, name), files);
  return { root, shelf, disabled, put };
}

/** Shows the two texts whole. */
export function testDiff(before: string, after: string): string {
  const lines = (sign: string, text: string) =>
    text === ''
      ? []
      : text
          .trimEnd()
          .split('\n')
          .map((line) => `${sign}${line}`);
  return before === after ? '' : [...lines('-', before), ...lines('+', after)].join('\n');
}

export function tarFile(name: string, text: string, size = Buffer.byteLength(text)): TarEntry {
  return { header: { kind: 'file', name, mode: 0o644, modifiedMs: 0, size }, body: stream([Buffer.from(text)]) };
}

export function tarLink(name: string, target: string): TarEntry {
  const header: TarHeader = { kind: 'symlink', name, modifiedMs: 0, target };
  return { header, body: stream([]) };
}

export async function tarOf(entries: readonly TarEntry[]): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of tarEntries(stream(entries))) chunks.push(chunk);
  return Buffer.concat(chunks);
}

export async function* stream<T>(items: Iterable<T>): AsyncGenerator<T> {
  yield* items;
}

export interface ZipFile {
  readonly name: string;
  readonly text: string;
  readonly mode?: number;
  /** What the directory says, if not the truth. */
  readonly size?: number;
  readonly localName?: string;
  readonly checksum?: number;
}

export function zipOf(files: readonly ZipFile[]): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const { name, text, mode = 0o100644, size, localName = name, checksum } of files) {
    const bytes = Buffer.from(text);
    const packed = deflateRawSync(bytes);
    const fields = Buffer.alloc(30);
    fields.writeUInt32LE(0x04034b50, 0);
    fields.writeUInt16LE(8, 8);
    fields.writeUInt32LE(checksum ?? crc32(bytes), 14);
    fields.writeUInt32LE(packed.length, 18);
    fields.writeUInt32LE(size ?? bytes.length, 22);
    fields.writeUInt16LE(Buffer.byteLength(localName), 26);
    const row = Buffer.alloc(46);
    row.writeUInt32LE(0x02014b50, 0);
    row.writeUInt8(3, 5);
    fields.copy(row, 6, 4, 30);
    row.writeUInt16LE(Buffer.byteLength(name), 28);
    row.writeUInt32LE((mode << 16) >>> 0, 38);
    row.writeUInt32LE(offset, 42);
    directory.push(row, Buffer.from(name));
    const local = Buffer.concat([fields, Buffer.from(localName), packed]);
    parts.push(local);
    offset += local.length;
  }
  const rows = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(files.length, 8);
  end.writeUInt16LE(files.length, 10);
  end.writeUInt32LE(rows.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...parts, rows, end]);
}
