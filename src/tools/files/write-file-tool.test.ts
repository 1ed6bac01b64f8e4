import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmod, mkdir, readFile, readdir, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'node:test';
import { promisify } from 'node:util';
import { fakeToolContext, temporaryFolder } from '../fake-tool-context.ts';
import { plainFileDeps } from './test-file-deps.ts';
import { contentBytesMax, createWriteFileTool } from './write-file-tool.ts';

async function writer(t: test.TestContext) {
  const top = await temporaryFolder(t);
  const workspace = join(top, 'workspace');
  await mkdir(workspace);
  const write = (path: string, content: string) =>
    createWriteFileTool(plainFileDeps).run({ path, content, overwrite: true }, fakeToolContext(workspace));
  return { top, workspace, write };
}

const finished = (text: string) => ({ kind: 'finished', text });
const failed = (text: string) => ({ kind: 'failed', text });

test('a file is written with its folders, and the result says what was written', async (t) => {
  const { workspace, write } = await writer(t);
  assert.deepEqual(
    await write('notes/deep/a.txt', 'one\ntwö\nthree'),
    finished('wrote 3 lines, 14 bytes to notes/deep/a.txt'),
  );
  assert.equal(await readFile(join(workspace, 'notes/deep/a.txt'), 'utf8'), 'one\ntwö\nthree');
  assert.deepEqual(await readdir(join(workspace, 'notes/deep')), ['a.txt']);
});

test('lines and bytes are counted as a person would', async (t) => {
  const { write } = await writer(t);
  assert.deepEqual(await write('a', ''), finished('wrote 0 lines, 0 bytes to a'));
  assert.deepEqual(await write('a', 'x'), finished('wrote 1 line, 1 byte to a'));
  assert.deepEqual(await write('a', 'x\n'), finished('wrote 1 line, 2 bytes to a'));
  assert.deepEqual(await write('a', '\n\n'), finished('wrote 2 lines, 2 bytes to a'));
});

test('a file that exists is replaced and keeps its permissions', async (t) => {
  const { workspace, write } = await writer(t);
  const path = join(workspace, 'script.sh');
  await writeFile(path, 'old and longer');
  await chmod(path, 0o750);
  await write('script.sh', 'new');
  assert.equal(await readFile(path, 'utf8'), 'new');
  assert.equal((await stat(path)).mode & 0o777, 0o750);
});

test('content beyond the limit is refused, and the file stays as it was', async (t) => {
  const { workspace, write } = await writer(t);
  await write('a.txt', 'old');
  assert.deepEqual(
    await write('a.txt', 'é'.repeat(contentBytesMax / 2 + 1)),
    failed('The content has 2,000,002 bytes, more than the 2,000,000 that one call may write.'),
  );
  assert.equal(await readFile(join(workspace, 'a.txt'), 'utf8'), 'old');
});

test('nothing is written outside the workspace, by any way', async (t) => {
  const { top, workspace, write } = await writer(t);
  await mkdir(join(top, 'private'));
  await symlink('../private', join(workspace, 'way-out'));
  await symlink('../private/new.txt', join(workspace, 'dangling'));
  for (const path of [
    '../private/a.txt',
    join(top, 'private/a.txt'),
    'way-out/a.txt',
    'way-out/new/a.txt',
    'dangling',
  ]) {
    assert.equal((await write(path, 'x')).kind, 'failed');
  }
  assert.deepEqual(await readdir(join(top, 'private')), []);
});

test('a link inside the workspace stays a link, and what it leads to is written', async (t) => {
  const { workspace, write } = await writer(t);
  await writeFile(join(workspace, 'real.txt'), 'old');
  await symlink('real.txt', join(workspace, 'link.txt'));
  assert.deepEqual(await write('link.txt', 'new'), finished('wrote 1 line, 3 bytes to real.txt'));
  assert.equal(await readFile(join(workspace, 'real.txt'), 'utf8'), 'new');
  assert.deepEqual(
    (await readdir(workspace, { withFileTypes: true })).filter((entry) => entry.isSymbolicLink()).length,
    1,
  );
});

test('what is no file is not replaced', async (t) => {
  const { workspace, write } = await writer(t);
  await mkdir(join(workspace, 'folder'));
  await writeFile(join(workspace, 'file'), '');
  await promisify(execFile)('mkfifo', [join(workspace, 'pipe')]);
  assert.deepEqual(await write('folder', 'x'), failed('folder is a folder, so nothing was written.'));
  assert.deepEqual(await write('.', 'x'), failed('. is a folder, so nothing was written.'));
  assert.deepEqual(await write('new/', 'x'), failed('new/ names a folder. Give the path of a file.'));
  assert.deepEqual(await write('pipe', 'x'), failed('pipe is not a regular file, so nothing was written.'));
  assert.deepEqual(
    await write('file/below', 'x'),
    failed("file/below can't be used: a part of the path is a file, not a folder."),
  );
});

test('a read-only file is left alone, also by root', async (t) => {
  const { workspace, write } = await writer(t);
  await writeFile(join(workspace, 'a.txt'), 'old', { mode: 0o444 });
  assert.deepEqual(await write('a.txt', 'new'), failed('a.txt is read-only, so nothing was written.'));
});

test('a lone surrogate is written as the replacement character, and the count is of what was written', async (t) => {
  const { workspace, write } = await writer(t);
  assert.deepEqual(await write('a.txt', 'a\ud800'), finished('wrote 1 line, 4 bytes to a.txt'));
  assert.equal(await readFile(join(workspace, 'a.txt'), 'utf8'), 'a\ufffd');
});

test('after a stop nothing is written', async (t) => {
  const { workspace } = await writer(t);
  const context = fakeToolContext(workspace, AbortSignal.abort(new Error('stopped')));
  await assert.rejects(createWriteFileTool(plainFileDeps).run({ path: 'a/b.txt', content: 'x' }, context), /stopped/);
  assert.deepEqual(await readdir(workspace), []);
});
