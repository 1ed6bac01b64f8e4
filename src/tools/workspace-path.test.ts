import assert from 'node:assert/strict';
import { chmod, mkdir, realpath, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'node:test';
import { temporaryFolder } from './fake-tool-context.ts';
import { placeInWorkspace } from './workspace-path.ts';

async function workspaceWithNeighbour(t: test.TestContext) {
  const top = await realpath(await temporaryFolder(t));
  const workspace = join(top, 'workspace');
  await mkdir(join(workspace, 'notes'), { recursive: true });
  await mkdir(join(top, 'private'));
  await writeFile(join(top, 'private', 'secret.txt'), 'secret');
  return { top, workspace };
}

const outside = (path: string) => ({
  kind: 'refused',
  problem: `${path} is outside the workspace. Only files inside it can be used; give a path relative to it.`,
});

test('paths are relative to the workspace, and need not exist', async (t) => {
  const { workspace } = await workspaceWithNeighbour(t);
  const inside = (shown: string) => ({ kind: 'inside', path: join(workspace, shown), shown });
  assert.deepEqual(await placeInWorkspace(workspace, 'notes'), inside('notes'));
  assert.deepEqual(await placeInWorkspace(workspace, './notes/../new/deep/file.txt'), inside('new/deep/file.txt'));
  assert.deepEqual(await placeInWorkspace(workspace, join(workspace, 'a.txt')), inside('a.txt'));
  assert.deepEqual(await placeInWorkspace(workspace, '..dots'), inside('..dots'));
  assert.deepEqual(await placeInWorkspace(workspace, '.'), { kind: 'inside', path: workspace, shown: '.' });
});

test('places outside the workspace are refused, also those that only begin like it', async (t) => {
  const { top, workspace } = await workspaceWithNeighbour(t);
  await mkdir(`${workspace}-2`);
  for (const path of [
    '..',
    '../private/secret.txt',
    'notes/../../x',
    '/etc/passwd',
    '/etc/passwd/below',
    `${workspace}-2/x`,
    top,
  ]) {
    assert.deepEqual(await placeInWorkspace(workspace, path), outside(path));
  }
});

test('links are followed before it is decided whether a place is inside', async (t) => {
  const { workspace } = await workspaceWithNeighbour(t);
  await symlink('../private', join(workspace, 'way-out'));
  await symlink('../private/secret.txt', join(workspace, 'file-out'));
  await symlink('notes', join(workspace, 'way-in'));
  for (const path of ['way-out', 'way-out/secret.txt', 'way-out/new/file.txt', 'file-out']) {
    assert.deepEqual(await placeInWorkspace(workspace, path), outside(path));
  }
  assert.deepEqual(await placeInWorkspace(workspace, 'way-in/a.txt'), {
    kind: 'inside',
    path: join(workspace, 'notes/a.txt'),
    shown: 'notes/a.txt',
  });
});

test('a link to nothing is refused, because writing through it would create its target', async (t) => {
  const { workspace } = await workspaceWithNeighbour(t);
  await symlink('../private/new.txt', join(workspace, 'dangling'));
  for (const path of ['dangling', 'dangling/below']) {
    const problem = `${path} is a link to something that does not exist.`;
    assert.deepEqual(await placeInWorkspace(workspace, path), { kind: 'refused', problem });
  }
});

test('a workspace that is itself a link is a workspace', async (t) => {
  const { top, workspace } = await workspaceWithNeighbour(t);
  await symlink('workspace', join(top, 'link'));
  assert.deepEqual(await placeInWorkspace(join(top, 'link'), 'notes/a.txt'), {
    kind: 'inside',
    path: join(workspace, 'notes/a.txt'),
    shown: 'notes/a.txt',
  });
});

test('a workspace that does not exist yet can be named', async (t) => {
  const { top } = await workspaceWithNeighbour(t);
  const path = join(top, 'later/a.txt');
  assert.deepEqual(await placeInWorkspace(join(top, 'later'), 'a.txt'), { kind: 'inside', path, shown: 'a.txt' });
});

test('paths that no file can have are refused with a sentence', async (t) => {
  const { workspace } = await workspaceWithNeighbour(t);
  await writeFile(join(workspace, 'file'), '');
  await symlink('ring', join(workspace, 'ring'));
  await chmod(join(workspace, 'notes'), 0o700);
  const problemOf = async (path: string) => {
    const place = await placeInWorkspace(workspace, path);
    return place.kind === 'refused' ? place.problem : place;
  };
  assert.equal(await problemOf(''), 'The path is empty. Give one relative to the workspace.');
  assert.equal(await problemOf('a\0b'), 'The path contains a NUL character. Leave it out.');
  assert.equal(await problemOf('~/x'), '~/x: "~" is not understood. Give a path relative to the workspace.');
  assert.equal(await problemOf('file/below'), "file/below can't be used: a part of the path is a file, not a folder.");
  assert.equal(await problemOf('ring'), "ring can't be used: its links lead in a circle.");
  const long = 'x'.repeat(300);
  assert.equal(await problemOf(long), `${long} can't be used: the name is too long.`);
});
