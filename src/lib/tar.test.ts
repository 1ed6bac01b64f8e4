import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createReadStream } from 'node:fs';
import { chmod, lstat, mkdir, mkdtemp, readFile, readlink, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import * as fc from 'fast-check';
import { readTar, tarEntries, TarError, type TarEntry, type TarErrorReason, type TarHeader } from './tar.ts';
import { encodeBlock, encodePax, type TarBlock } from './tar-block.ts';

const modifiedMs = Date.UTC(2026, 1, 3, 4, 5, 6);
const folder = (name: string): TarHeader => ({ kind: 'folder', name, mode: 0o750, modifiedMs });
const link = (name: string, target: string): TarHeader => ({ kind: 'symlink', name, target, modifiedMs });
const file = (name: string, size: number): TarHeader => ({ kind: 'file', name, mode: 0o640, modifiedMs, size });

async function* streamOf<T>(items: Iterable<T>): AsyncGenerator<T> {
  yield* items;
}

function entry(header: TarHeader, text = ''): TarEntry {
  return { header, body: streamOf(text === '' ? [] : [Buffer.from(text)]) };
}

async function collect<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of stream) items.push(item);
  return items;
}

async function bytesOf(stream: AsyncIterable<Uint8Array>): Promise<Buffer> {
  return Buffer.concat(await collect(stream));
}

function archive(...entries: TarEntry[]): Promise<Buffer> {
  return bytesOf(tarEntries(streamOf(entries)));
}

/** What an archive holds, delivered in chunks of this size. */
async function contentOf(bytes: Buffer, chunkSize = bytes.length): Promise<{ header: TarHeader; text: string }[]> {
  const chunks = Array.from({ length: Math.ceil(bytes.length / chunkSize) }, (_, index) =>
    bytes.subarray(index * chunkSize, (index + 1) * chunkSize),
  );
  const content: { header: TarHeader; text: string }[] = [];
  for await (const { header, body } of readTar(streamOf(chunks))) {
    content.push({ header, text: (await bytesOf(body)).toString() });
  }
  return content;
}

const longName = `${'folder/'.repeat(40)}${'ü'.repeat(60)}.txt`;

describe('tar', () => {
  test('gives back what was written: files, folders, links, long names and odd ones', async () => {
    const entries: [TarHeader, string][] = [
      [folder('a'), ''],
      [file('a/empty', 0), ''],
      [file('a/b.txt', 5), 'hello'],
      [file('a/block', 512), 'x'.repeat(512)],
      [file('a/block and one', 513), 'y'.repeat(513)],
      [file(`${'n'.repeat(96)}.txt`, 1), '1'],
      [file(`${'n'.repeat(97)}.txt`, 1), '2'],
      [file(longName, 2), 'ü'],
      [folder(`${longName}-folder`), ''],
      [link('a/link', 'b.txt'), ''],
      [link('a/long link', `../${longName}`), ''],
      [file('new\nline = "quoted"', 1), '3'],
    ];
    const bytes = await archive(...entries.map(([header, text]) => entry(header, text)));
    assert.equal(bytes.length % 512, 0);
    const expected = entries.map(([header, text]) => ({ header, text }));
    for (const chunkSize of [bytes.length, 1000, 512, 7]) assert.deepEqual(await contentOf(bytes, chunkSize), expected);
  });

  test('gives back any content under any name', async () => {
    const part = fc
      .string({ unit: 'grapheme', minLength: 1, maxLength: 200 })
      .filter((text) => !/^\.{1,2}$|[/\0]/.test(text));
    const name = fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/'));
    const files = fc.array(fc.tuple(name, fc.uint8Array({ maxLength: 2000 })), { maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(files, fc.integer({ min: 1, max: 3000 }), async (contents, chunkSize) => {
        const bytes = await archive(
          ...contents.map(([path, data]) => ({ header: file(path, data.length), body: streamOf([data]) })),
        );
        const content = await contentOf(bytes, chunkSize);
        assert.deepEqual(
          content.map(({ header, text }) => [header, text]),
          contents.map(([path, data]) => [file(path, data.length), Buffer.from(data).toString()]),
        );
      }),
      { numRuns: 50 },
    );
  });

  test('skips a body that nobody reads, or reads in part', async () => {
    const bytes = await archive(entry(file('a', 2000), 'a'.repeat(2000)), entry(file('b', 2000), 'b'.repeat(2000)));
    const names: string[] = [];
    for await (const { header, body } of readTar(streamOf([bytes.subarray(0, 1000), bytes.subarray(1000)]))) {
      names.push(header.name);
      if (header.name === 'b') for await (const _ of body) break;
    }
    assert.deepEqual(names, ['a', 'b']);
  });

  test('carries files of any size without holding them', async () => {
    const chunk = new Uint8Array(64 * 1024 ** 2);
    const size = 65 * 1024 ** 3;
    async function* zeros() {
      for (let left = size; left > 0; left -= chunk.length) yield chunk;
    }
    const entries = streamOf([{ header: file('large', size), body: zeros() }, entry(file('after', 2), 'ok')]);
    const headers: TarHeader[] = [];
    for await (const { header } of readTar(tarEntries(entries))) headers.push(header);
    assert.deepEqual(headers, [file('large', size), file('after', 2)]);
  });

  test('lets go of its source when the reader leaves early', async () => {
    const bytes = await archive(entry(file('a', 1), 'a'), entry(file('b', 1), 'b'));
    let released = false;
    async function* source() {
      try {
        for (const byte of bytes) yield Uint8Array.of(byte);
      } finally {
        released = true;
      }
    }
    for await (const _ of readTar(source())) break;
    assert.equal(released, true);
  });

  test('reads its source to the end, where a decompressor reports damage', async () => {
    const bytes = await archive(entry(file('a', 1), 'a'));
    async function* source() {
      yield bytes;
      yield new Uint8Array(9000);
      throw new Error('wrong checksum');
    }
    await assert.rejects(collect(readTar(source())), { message: 'wrong checksum' });
  });

  test('a file that shrinks or grows while it is archived is an error', async () => {
    for (const text of ['ab', 'abcd']) {
      await assert.rejects(archive(entry(file('a', 3), text)), {
        name: 'TarError',
        reason: 'size-changed',
        message: 'a changed its size while it was archived. Try again.',
      });
    }
  });
});

describe('hostile archives', () => {
  const end = Buffer.alloc(1024);
  const block = (fields: Partial<TarBlock>) =>
    Buffer.from(encodeBlock({ name: 'x', mode: 0o644, size: 0, modifiedS: 0, type: '0', linkName: '', ...fields }));
  const pax = (key: string, value: string, type = 'x') => {
    const records = encodePax(new Map([[key, value]]));
    return Buffer.concat([block({ type, size: records.length }), records, Buffer.alloc(512 - (records.length % 512))]);
  };
  const refuse = (reason: TarErrorReason, ...parts: Uint8Array[]) =>
    assert.rejects(contentOf(Buffer.concat(parts)), (error) => {
      assert.ok(error instanceof TarError, String(error));
      assert.equal(error.reason, reason, error.message);
      assert.match(error.message, /\.$/);
      return true;
    });

  test('names that lead out of the folder are refused, however they are given', async () => {
    for (const name of ['/etc/passwd', '../x', 'a/../../x', 'a/..', '..', '/']) {
      await refuse('unsafe-name', block({ name }), end);
      await refuse('unsafe-name', block({ name, type: '5' }), end);
      await refuse('unsafe-name', pax('path', name), block({}), end);
      const gnu = Buffer.from(name.padEnd(512, '\0'));
      await refuse('unsafe-name', block({ type: 'L', size: name.length + 1 }), gnu, block({}), end);
    }
    await refuse('unsafe-name', pax('path', 'a\0/../b'), block({}), end);
    await refuse('unsafe-name', block({ name: '.' }), end);
    await refuse('unsafe-name', block({ name: '' }), end);
    await refuse('unsafe-name', block({ name: 'link', type: '2' }), end);
  });

  test('nothing is taken that would be written through a link of the archive', async () => {
    const evil = block({ name: 'a/Link', type: '2', linkName: '/etc' });
    for (const name of ['a/Link/passwd', 'a/Link', './a//Link/x/y', 'A/link/passwd']) {
      await refuse('unsafe-name', evil, block({ name }), end);
    }
    assert.equal((await contentOf(Buffer.concat([evil, block({ name: 'a/Link2' }), end]))).length, 2);
    const composed = block({ name: 'x', type: '2', linkName: '/etc' });
    await refuse('unsafe-name', pax('path', 'e\u0301'), composed, pax('path', '\u00e9/x'), block({}), end);
  });

  test('devices, hard links and sparse files are refused', async () => {
    for (const type of ['1', '3', '4', '6', '7', 'S', 'Z']) {
      await refuse('unsupported', block({ type, linkName: 'y' }), end);
    }
    await refuse('unsupported', block({ type: '5', size: 512 }), Buffer.alloc(512), end);
  });

  test('a changed header is found', async () => {
    const good = Buffer.concat([block({ name: 'name' }), end]);
    for (const offset of [0, 100, 124, 148, 156, 300]) {
      const bad = Buffer.from(good);
      bad[offset] = (bad[offset] ?? 0) ^ 1;
      await refuse('damaged', bad);
    }
  });

  test('what is no archive is refused', async () => {
    await refuse('truncated', Buffer.from('hello'));
    await refuse('truncated');
    await refuse('damaged', Buffer.alloc(2000, 'hello'));
    await refuse('damaged', Buffer.alloc(512), block({}), end);
    await refuse('damaged', block({}), end, Buffer.alloc(17 * 1024 * 1024));
  });

  test('an archive cut off anywhere is refused', async () => {
    const bytes = await archive(entry(folder('a')), entry(file('a/b', 700), 'b'.repeat(700)), entry(file(longName, 0)));
    for (let length = 0; length < bytes.length; length += 97) await refuse('truncated', bytes.subarray(0, length));
    await refuse('truncated', bytes.subarray(0, -1));
    await refuse('truncated', bytes.subarray(0, -512));
  });

  test('extensions that lie are refused', async () => {
    await refuse('unsupported', block({ type: 'x', size: 10_000_000 }), end);
    await refuse('damaged', pax('size', '-1'), block({}), end);
    await refuse('damaged', pax('size', '99999999999999999999'), block({}), end);
    await refuse('damaged', pax('mtime', 'yesterday'), block({}), end);
    for (const text of ['5 a=b\n', '99 a=b\n', 'x a=b\n', '6 a=b', '6 ab\n\n', ' a=b\n']) {
      await refuse(
        'damaged',
        block({ type: 'x', size: text.length }),
        Buffer.from(text.padEnd(512, '\0')),
        block({}),
        end,
      );
    }
  });

  test('whatever bytes come, they give entries or a TarError', async () => {
    const good = await archive(entry(file(longName, 3), 'abc'), entry(link('l', longName)));
    const change = fc.tuple(fc.nat({ max: good.length - 1 }), fc.nat({ max: 255 }));
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 5 }), async (changes) => {
        const bad = Buffer.from(good);
        for (const [offset, value] of changes) bad[offset] = value;
        await contentOf(bad).catch((error: unknown) => assert.ok(error instanceof TarError, String(error)));
      }),
      { numRuns: 300 },
    );
  });
});

const systemTar = spawnSync('tar', ['--version'], { encoding: 'utf8' });
const skip = systemTar.status === 0 ? false : 'there is no tar on this machine';

describe('the tar of this machine', { skip }, () => {
  let root = '';
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'tar-test-'));
  });
  afterEach(() => rm(root, { recursive: true, force: true }));

  const tar = (...args: string[]) => {
    const { status, stderr } = spawnSync('tar', args, { encoding: 'utf8', env: { ...process.env, LC_ALL: 'C.UTF-8' } });
    assert.deepEqual({ status, stderr }, { status: 0, stderr: '' });
  };

  test('unpacks what is written here', async () => {
    await writeFile(
      join(root, 'a.tar'),
      tarEntries(
        streamOf([
          entry(folder('a')),
          entry(file('a/b.txt', 5), 'hello'),
          entry(file(longName, 2), 'ü'),
          entry(link('a/link', 'b.txt')),
          entry(link('a/long', longName)),
        ]),
      ),
    );
    await mkdir(join(root, 'out'));
    tar('-xpf', join(root, 'a.tar'), '-C', join(root, 'out'));
    assert.equal(await readFile(join(root, 'out/a/link'), 'utf8'), 'hello');
    assert.equal(await readFile(join(root, 'out', longName), 'utf8'), 'ü');
    assert.equal(await readlink(join(root, 'out/a/long')), longName);
    const { mode, mtimeMs } = await lstat(join(root, 'out/a/b.txt'));
    assert.deepEqual({ mode: mode & 0o7777, mtimeMs }, { mode: 0o640, mtimeMs: modifiedMs });
    assert.equal((await lstat(join(root, 'out/a'))).mode & 0o7777, 0o750);
  });

  for (const format of ['ustar', 'pax', 'gnu']) {
    test(`packs what is read here, as ${format}`, async (context) => {
      if (spawnSync('tar', [`--format=${format}`, '-cf', '/dev/null', '-T', '/dev/null']).status !== 0) {
        context.skip(`it does not know ${format}`);
        return;
      }
      // ustar can't hold more than 100 bytes after the last slash.
      const long = format === 'ustar' ? `${'folder/'.repeat(20)}${'n'.repeat(90)}` : longName;
      await mkdir(join(root, 'in', dirname(long)), { recursive: true });
      await writeFile(join(root, 'in', long), 'ü');
      await writeFile(join(root, 'in/script'), 'hello');
      await symlink('script', join(root, 'in/link'));
      await chmod(join(root, 'in/script'), 0o750);
      await utimes(join(root, 'in/script'), modifiedMs / 1000, modifiedMs / 1000);
      tar(`--format=${format}`, '-cf', join(root, 'a.tar'), '-C', join(root, 'in'), '.');

      const content: Record<string, string> = {};
      const headers: Record<string, TarHeader> = {};
      for await (const { header, body } of readTar(createReadStream(join(root, 'a.tar')))) {
        headers[header.name] = header;
        content[header.name] = (await bytesOf(body)).toString();
      }
      assert.deepEqual(headers['script'], { ...file('script', 5), mode: 0o750 });
      assert.deepEqual(
        { kind: headers['link']?.kind, target: headers['link']?.kind === 'symlink' && headers['link'].target },
        {
          kind: 'symlink',
          target: 'script',
        },
      );
      assert.deepEqual([content['script'], content[long], headers['folder']?.kind], ['hello', 'ü', 'folder']);
    });
  }
});
