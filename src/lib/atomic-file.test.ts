import assert from 'node:assert/strict';
import {
  chmod,
  chown,
  mkdir,
  mkdtemp,
  readFile,
  readdir,
  readlink,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { writeFileAtomically } from './atomic-file.ts';

const isRoot = process.getuid?.() === 0;

describe('writeFileAtomically', () => {
  let folder = '';
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'atomic-file-'));
  });
  afterEach(async () => {
    await rm(folder, { recursive: true, force: true });
  });

  const modeOf = async (path: string) => (await stat(path)).mode & 0o7777;

  test('writes text and bytes and leaves nothing else in the folder', async () => {
    await writeFileAtomically(join(folder, 'text'), 'grüße\n');
    await writeFileAtomically(join(folder, 'bytes'), Uint8Array.of(0, 255, 10));
    assert.equal(await readFile(join(folder, 'text'), 'utf8'), 'grüße\n');
    assert.deepEqual([...(await readFile(join(folder, 'bytes')))], [0, 255, 10]);
    assert.deepEqual((await readdir(folder)).sort(), ['bytes', 'text']);
  });

  test('puts a new file in place of the old one instead of writing into it', async () => {
    const path = join(folder, 'a');
    await writeFile(path, 'a much longer old content');
    const before = await stat(path);
    await writeFileAtomically(path, 'new');
    assert.equal(await readFile(path, 'utf8'), 'new');
    assert.notEqual((await stat(path)).ino, before.ino);
  });

  test('a new file has the permissions any new file has', async () => {
    await writeFile(join(folder, 'plain'), '');
    await writeFileAtomically(join(folder, 'a'), '');
    assert.equal(await modeOf(join(folder, 'a')), await modeOf(join(folder, 'plain')));
  });

  test('an existing file keeps its permissions, even those that the umask would take', async () => {
    const path = join(folder, 'a');
    await writeFile(path, 'old');
    await chmod(path, 0o662);
    await writeFileAtomically(path, 'new');
    assert.equal(await modeOf(path), 0o662);
  });

  test('given permissions win over those of an existing file', async () => {
    const path = join(folder, 'a');
    await writeFile(path, 'old');
    await chmod(path, 0o644);
    await writeFileAtomically(path, 'new', { mode: 0o600 });
    assert.equal(await modeOf(path), 0o600);
  });

  test(
    'root leaves the owner of a file as it was',
    { skip: isRoot ? false : 'only root can give files away' },
    async () => {
      const path = join(folder, 'a');
      await writeFile(path, 'old');
      await chown(path, 1234, 2345);
      await writeFileAtomically(path, 'new');
      const { uid, gid } = await stat(path);
      assert.deepEqual({ uid, gid }, { uid: 1234, gid: 2345 });
    },
  );

  test('writes through links, relative ones and ones to a file that is not there yet', async () => {
    await mkdir(join(folder, 'deep/real'), { recursive: true });
    await mkdir(join(folder, 'deep/other'));
    await symlink('deep/real', join(folder, 'folder-link'));
    await symlink('../other/target', join(folder, 'deep/real/second'));
    await symlink('folder-link/second', join(folder, 'first'));
    for (const text of ['one', 'two']) {
      await writeFileAtomically(join(folder, 'first'), text);
      assert.equal(await readFile(join(folder, 'deep/other/target'), 'utf8'), text);
    }
    assert.equal(await readlink(join(folder, 'first')), 'folder-link/second');
    assert.deepEqual(await readdir(join(folder, 'deep/real')), ['second']);
  });

  test('a ring of links is an error, not an endless search', async () => {
    await symlink('b', join(folder, 'a'));
    await symlink('a', join(folder, 'b'));
    await assert.rejects(writeFileAtomically(join(folder, 'a'), ''), /more than 40 symbolic links/);
  });

  test('a failed write leaves no temporary file and the old content', async () => {
    const path = join(folder, 'a');
    await writeFile(path, 'old');
    const unwritable = 17 as unknown as string;
    await assert.rejects(writeFileAtomically(path, unwritable));
    assert.equal(await readFile(path, 'utf8'), 'old');
    assert.deepEqual(await readdir(folder), ['a']);
  });

  test('does not replace a folder', async () => {
    await mkdir(join(folder, 'a'));
    await assert.rejects(writeFileAtomically(join(folder, 'a'), ''), /is not a regular file/);
    assert.deepEqual(await readdir(folder), ['a']);
  });

  test("a missing folder is the file system's own error", async () => {
    await assert.rejects(writeFileAtomically(join(folder, 'no', 'a'), ''), { code: 'ENOENT' });
  });

  test('readers at any moment see one whole version', async () => {
    const path = join(folder, 'a');
    const versions = Array.from({ length: 20 }, (_, index) => String(index).repeat(100_000));
    await writeFileAtomically(path, versions[0] ?? '');
    const writing = new AbortController();
    const reading = (async () => {
      while (!writing.signal.aborted) assert.ok(versions.includes(await readFile(path, 'utf8')));
    })();
    for (const version of versions) await writeFileAtomically(path, version);
    writing.abort();
    await reading;
  });
});
