import assert from 'node:assert/strict';
import test from 'node:test';
import { isProtected, protectedNames } from './protected-names.ts';

test('every name of the list is protected, at the top, further down, and with what is below it', () => {
  for (const name of protectedNames) {
    for (const path of [name, `./${name}`, `a/b/${name}`, `${name}/x`, `/abs/${name}`, name.toUpperCase()]) {
      assert.equal(isProtected(path), true, path);
    }
  }
});

test('git can be used: only what makes it run something is protected', () => {
  for (const path of ['.git/HEAD', '.git/objects/ab/cd', '.git/refs/heads/config', '.git/index', '.git/info/exclude']) {
    assert.equal(isProtected(path), false, path);
  }
  for (const path of [
    '.git',
    'lib/.git',
    'lib/HEAD',
    '.git/modules/a/b/config',
    '.git/modules/a/hooks/post-checkout',
    '.git/worktrees/x/config.worktree',
    '.git/worktrees/x/gitdir',
  ]) {
    assert.equal(isProtected(path), true, path);
  }
});

test('spellings that a file system may take for the same name are the same name', () => {
  for (const path of [
    '.GIT/Hooks/x',
    '.g\u200cit/config',
    '.\uff47it/config',
    '.bashrc.',
    '.vscode /x',
    'a/.//.git//config',
  ]) {
    assert.equal(isProtected(path), true, path);
  }
});

test('names that only look alike are not protected', () => {
  for (const path of [
    'git/hooks/x',
    'src/config',
    'bashrc',
    '.gitignore',
    'hooks/pre-commit',
    'AGENTS.md.txt',
    '.vscode-test',
  ]) {
    assert.equal(isProtected(path), false, path);
  }
});
