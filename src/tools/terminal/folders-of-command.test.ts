import assert from 'node:assert/strict';
import { test } from 'node:test';
import { foldersOfCommand } from './folders-of-command.ts';

test('a command is about the folder it was asked to run in, and those it goes to', () => {
  assert.deepEqual(foldersOfCommand({ command: 'ls' }), []);
  assert.deepEqual(foldersOfCommand({ command: 'ls', cwd: 'web' }), ['web']);
  assert.deepEqual(foldersOfCommand({ command: 'cd web && npm test' }), ['web']);
  assert.deepEqual(foldersOfCommand({ command: 'cd web && (cd src; ls)\ncd "my docs"', cwd: 'top' }), [
    'top',
    'top/web',
    'top/web/src',
    'top/web/src/my docs',
  ]);
  assert.deepEqual(foldersOfCommand({ command: 'cd /abs/place' }), ['/abs/place']);
});

test('what is no plain word is left alone', () => {
  for (const command of ['cd', 'cd ~', 'cd -', 'cd "$HOME"', 'cd `pwd`', 'echo abcd web', 'cd *'])
    assert.deepEqual(foldersOfCommand({ command }), [], command);
});
