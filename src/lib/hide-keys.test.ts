import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hideKeys } from './hide-keys.ts';

const hidden = '[secret left out]';

test('what looks like a key is taken out', () => {
  const keys = [
    'sk-proj-abcdefghijklmnop0123456789',
    'ghp_abcdefghijklmnopqrstuvwxyz0123456789',
    'github_pat_11ABCDEFG0abcdefghijkl',
    'xoxb-1234567890-abcdefghijkl',
    'AKIAIOSFODNN7EXAMPLE',
    'AIzaSyA1234567890abcdefghijklmnopqrstuv',
    '123456789:AAabcdefghijklmnopqrstuvwxyz0123456',
    'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcDEF123',
    '-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----',
  ];
  for (const key of keys) assert.equal(hideKeys(`it is ${key} , so`), `it is ${hidden} , so`, key);
});

test('what is named a secret is taken out, and its name stays', () => {
  assert.equal(hideKeys('password=hunter2hunter2'), `password=${hidden}`);
  assert.equal(hideKeys('"api_key": "abcdef123456",'), `"api_key": "${hidden}",`);
  assert.equal(hideKeys('Authorization: Bearer abc.def.ghi-0123456789'), `Authorization: Bearer ${hidden}`);
  assert.equal(hideKeys('postgres://joe:s3cret@db.test/x'), `postgres://joe:${hidden}@db.test/x`);
});

test('ordinary words, paths, numbers and hashes stay', () => {
  const text =
    'Commit 3f786850e387550fdab836ed7e6dc881de23001b in /srv/app, port 8477, order 4711, tokens: 12, mask-it-please.';
  assert.equal(hideKeys(text), text);
});
