import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nearest } from './nearest.ts';

test('a typo, a swap, another case and another style are allowed for', () => {
  const known = ['status', 'sessions', 'gateway', 'idle_ttl_s'];
  assert.deepEqual(
    ['statsu', 'SESSION', 'gatway', 'sessions', 'idleTtlS', 'idle-ttl-s'].map((word) => nearest(word, known)[0]),
    ['status', 'sessions', 'gateway', 'sessions', 'idle_ttl_s', 'idle_ttl_s'],
  );
});

test('the nearest stand first, and only as many as were asked for', () => {
  const known = ['README.md', 'read.me', 'LICENSE'];
  assert.deepEqual(nearest('readme', known, 3), ['read.me', 'README.md']);
  assert.deepEqual(nearest('readme', known, 1), ['read.me']);
});

test('there is none for a name that is far from all', () => {
  assert.deepEqual(nearest('banana', ['status', 'sessions']), []);
  assert.deepEqual(nearest('', ['status']), []);
});

test('huge names are not compared at all', () => {
  assert.deepEqual(nearest('a'.repeat(100_000), ['a'.repeat(100)], 3), []);
  assert.deepEqual(nearest('abc', ['a'.repeat(100_000)], 3), []);
});
