import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { version } from './version.ts';

test('the version is the one in package.json', () => {
  const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  assert.deepEqual({ version }, { version: (JSON.parse(manifest) as { version: string }).version });
});
