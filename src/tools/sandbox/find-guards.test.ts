import assert from 'node:assert/strict';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { findGuards } from './find-guards.ts';
import { protectedNames } from './protected-names.ts';
import { testFolder } from './test-sandboxes.ts';

const sorted = <Item extends { path: string }>(items: readonly Item[]): Item[] =>
  items.toSorted((left, right) => (left.path < right.path ? -1 : 1));

test('in an empty folder every protected name is kept absent, git included', async () => {
  await using folder = await testFolder();
  const expected = ['.git', ...protectedNames].map((name) => ({
    kind: 'absent',
    path: join(folder.path, name),
    text: null,
  }));
  assert.deepEqual(sorted(await findGuards(folder.path)), sorted(expected));
});

test('what is there is kept, and the folders above a repository are pinned', async () => {
  await using folder = await testFolder();
  const git = join(folder.path, 'group', 'project', '.git');
  await mkdir(join(git, 'hooks'), { recursive: true });
  await writeFile(join(git, 'config'), '[core]\n\thooksPath = tools/hooks\n[extensions]\n\tworktreeConfig = true\n');
  await mkdir(join(folder.path, 'group', 'project', 'tools', 'hooks'), { recursive: true });
  await writeFile(join(folder.path, '.bashrc'), '');
  const found = await findGuards(folder.path);
  const names = new Set(protectedNames.map((name) => join(folder.path, name)));
  const others = sorted(found.filter(({ path }) => !names.has(path) && path !== join(folder.path, '.git')));
  assert.deepEqual(others, [
    { kind: 'pinned', path: join(folder.path, 'group') },
    { kind: 'pinned', path: join(folder.path, 'group', 'project') },
    { kind: 'pinned', path: git },
    { kind: 'absent', path: join(git, 'commondir'), text: '.\n' },
    { kind: 'kept', path: join(git, 'config') },
    { kind: 'absent', path: join(git, 'config.worktree'), text: '' },
    { kind: 'kept', path: join(git, 'hooks') },
    { kind: 'pinned', path: join(folder.path, 'group', 'project', 'tools') },
    { kind: 'kept', path: join(folder.path, 'group', 'project', 'tools', 'hooks') },
  ]);
  assert.deepEqual(
    found.find(({ path }) => path === join(folder.path, '.bashrc')),
    { kind: 'kept', path: join(folder.path, '.bashrc') },
  );
});

test('of a link, what it leads to is kept; what a sandbox put there counts as absent', async () => {
  await using folder = await testFolder();
  await mkdir(join(folder.path, 'shared'));
  await symlink('shared', join(folder.path, '.claude'));
  await mkdir(join(folder.path, '.git'));
  const found = await findGuards(folder.path, new Set([join(folder.path, '.git')]));
  assert.deepEqual(
    found.filter(({ path }) => ['shared', '.claude', '.git'].some((name) => path === join(folder.path, name))),
    [
      { kind: 'kept', path: join(folder.path, 'shared') },
      { kind: 'absent', path: join(folder.path, '.git'), text: null },
    ],
  );
});
