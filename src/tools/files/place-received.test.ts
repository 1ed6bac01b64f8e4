import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { createPlaceReceived } from './place-received.ts';
import { plainFileDeps } from './test-file-deps.ts';

const place = createPlaceReceived(plainFileDeps);
const bytes = () => Promise.resolve(Buffer.from('sent'));

async function testFolder(t: test.TestContext): Promise<{ workspace: string; elsewhere: string }> {
  const top = await realpath(await mkdtemp(join(tmpdir(), 'talaria-received-')));
  t.after(() => rm(top, { recursive: true, force: true }));
  const [workspace, elsewhere] = [join(top, 'workspace'), join(top, 'elsewhere')];
  await mkdir(workspace);
  await mkdir(elsewhere);
  return { workspace, elsewhere };
}

test('a file is put into the workspace once, and what became of it stays', async (t) => {
  const { workspace } = await testFolder(t);
  const file = join(workspace, 'received/1-a.txt');
  await place(workspace, 'received/1-a.txt', bytes);
  assert.equal(await readFile(file, 'utf8'), 'sent');
  await writeFile(file, 'changed');
  await place(workspace, 'received/1-a.txt', () => Promise.reject(new Error('not needed')));
  assert.equal(await readFile(file, 'utf8'), 'changed');
});

test('a link in the way leads nowhere, and what is not kept any more is said', async (t) => {
  const { workspace, elsewhere } = await testFolder(t);
  await symlink(elsewhere, join(workspace, 'received'));
  await assert.rejects(place(workspace, 'received/1-a.txt', bytes), /is no place for it/);
  await assert.rejects(place(workspace, '../elsewhere/a', bytes), /is no place for it/);
  assert.deepEqual(await readdir(elsewhere), []);
  await assert.rejects(
    place(workspace, 'b.txt', () => Promise.resolve(null)),
    /not kept any more/,
  );
});
