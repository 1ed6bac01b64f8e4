import assert from 'node:assert/strict';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { findGuards } from './find-guards.ts';
import { findRepositories } from './find-repositories.ts';
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

test('in a project below, what is run by itself is kept, and what its configuration names does not come to be', async () => {
  await using folder = await testFolder();
  const project = join(folder.path, 'project');
  const git = join(project, '.git');
  await mkdir(join(git, 'hooks'), { recursive: true });
  await mkdir(join(git, 'worktrees', 'other'), { recursive: true });
  await writeFile(join(git, 'worktrees', 'other', 'HEAD'), '');
  await writeFile(
    join(git, 'config'),
    '[core]\n\thooksPath = tools/hooks\n[include]\n\tpath = more\n\tpath = ~/.mine\n\tpath = ..\n' +
      '[extensions]\n\tworktreeConfig = true\n',
  );
  await writeFile(join(project, '.envrc'), '');
  await mkdir(join(project, '.vscode'));
  await writeFile(join(project, 'AGENTS.md'), '');
  const found = await findGuards(folder.path);
  assert.deepEqual(sorted(found.filter(({ path }) => path.startsWith(`${project}/`))), [
    { kind: 'kept', path: join(project, '.envrc') },
    { kind: 'pinned', path: git },
    { kind: 'absent', path: join(git, 'commondir'), text: '.\n' },
    { kind: 'kept', path: join(git, 'config') },
    { kind: 'absent', path: join(git, 'config.worktree'), text: '' },
    { kind: 'kept', path: join(git, 'hooks') },
    { kind: 'absent', path: join(git, 'more'), text: '' },
    { kind: 'pinned', path: join(git, 'worktrees') },
    { kind: 'pinned', path: join(git, 'worktrees', 'other') },
    { kind: 'absent', path: join(git, 'worktrees', 'other', 'commondir'), text: '.\n' },
    { kind: 'absent', path: join(git, 'worktrees', 'other', 'config.worktree'), text: '' },
    { kind: 'absent', path: join(git, 'worktrees', 'other', 'gitdir'), text: '.\n' },
    { kind: 'kept', path: join(project, '.vscode') },
    { kind: 'absent', path: join(project, 'tools'), text: null },
  ]);
});

test('a repository without files of its own is guarded too', async () => {
  await using folder = await testFolder();
  const bare = join(folder.path, 'server.git');
  for (const name of ['hooks', 'objects', 'refs']) await mkdir(join(bare, name), { recursive: true });
  for (const name of ['HEAD', 'config']) await writeFile(join(bare, name), '');
  const found = await findGuards(folder.path);
  assert.deepEqual(sorted(found.filter(({ path }) => path.startsWith(bare))), [
    { kind: 'pinned', path: bare },
    { kind: 'absent', path: join(bare, 'commondir'), text: '.\n' },
    { kind: 'kept', path: join(bare, 'config') },
    { kind: 'kept', path: join(bare, 'hooks') },
  ]);
});

test('with more data of submodules than is looked at, all of it is kept', async () => {
  await using folder = await testFolder();
  const modules = join(folder.path, 'project', '.git', 'modules');
  for (let number = 0; number <= 100; number++) {
    await mkdir(join(modules, `m${number}`), { recursive: true });
    await writeFile(join(modules, `m${number}`, 'HEAD'), '');
  }
  const found = await findGuards(folder.path);
  assert.deepEqual(
    found.filter(({ path }) => path.startsWith(modules)),
    [{ kind: 'kept', path: modules }],
  );
});

test('a repository that was found once is found again, whatever was put before it', async () => {
  await using folder = await testFolder();
  const deep = join(folder.path, 'a', 'b', 'c', 'd', 'e', '.git');
  await mkdir(deep, { recursive: true });
  assert.deepEqual(await findRepositories(folder.path), []);
  assert.deepEqual(await findRepositories(folder.path, [deep, join(folder.path, 'gone', '.git')]), [deep]);
  await symlink('a', join(folder.path, 'link'));
  assert.deepEqual(await findRepositories(folder.path, [deep.replace('/a/b/', '/link/b/')]), []);
});
