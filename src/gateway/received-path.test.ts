import assert from 'node:assert/strict';
import { test } from 'node:test';
import { receivedPath } from './received-path.ts';

const pathOf = (name: string) =>
  receivedPath({ kind: 'file', name, content: { sha256: '0123456789abcdef', bytes: 1, mediaType: 'text/plain' } });

test('what was sent is put under its own name, one word for a shell and no way to anywhere else', () => {
  const names = [
    'sales 2026.csv',
    'Bericht für Zoë.pdf',
    '../../.ssh/authorized_keys',
    '.bashrc',
    '$(rm -rf ~).txt',
    '',
  ];
  assert.deepEqual(names.map(pathOf), [
    'received/01234567-sales_2026.csv',
    'received/01234567-Bericht_für_Zoë.pdf',
    'received/01234567-.._.._.ssh_authorized_keys',
    'received/01234567-.bashrc',
    'received/01234567-_rm_-rf_.txt',
    'received/01234567-file',
  ]);
  assert.equal(pathOf(`${'é'.repeat(300)}.tar.gz`), `received/01234567-${'é'.repeat(93)}.tar.gz`);
});
