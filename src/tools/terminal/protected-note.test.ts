import assert from 'node:assert/strict';
import test from 'node:test';
import { protectedNote } from './protected-note.ts';

const note = (path: string) =>
  `[${path} is protected: commands in the sandbox can't change or create it; outside: true asks the user]`;

test('what a protected file answers with is explained', () => {
  const said = [
    ["fatal: cannot copy '/usr/share/x' to '/w/.git/description': Permission denied", '/w/.git/description'],
    ['error: could not write config file /w/p/.git/config: Device or resource busy', '/w/p/.git/config'],
    ['bash: line 1: .bashrc: Is a directory', '.bashrc'],
    ["Error: EROFS: read-only file system, open '/w/.vscode/tasks.json'", '/w/.vscode/tasks.json'],
  ] as const;
  for (const [line, path] of said) assert.equal(protectedNote(`before\n${line}\nafter`), note(path));
});

test('other failures are left alone', () => {
  for (const line of [
    'cat: /etc/shadow: Permission denied',
    'cp: -r not specified; .git is fine',
    'HEAD: Is a directory',
  ])
    assert.equal(protectedNote(line), null);
});
