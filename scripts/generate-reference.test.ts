import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { renderDefaults, renderGuide } from './generate-reference.ts';

const root = join(import.meta.dirname, '..');

test('the files derived from the schema are up to date', async () => {
  const advice = 'run: node scripts/generate-reference.ts';
  assert.equal(await readFile(join(root, 'docs/configuration.md'), 'utf8'), renderGuide(), advice);
  assert.equal(await readFile(join(root, 'src/config/default-config.ts'), 'utf8'), renderDefaults(), advice);
});

test('the guide has a row for a key, with type, default, meaning and what is missing', () => {
  const guide = renderGuide();
  const rows = [
    '| `port` | whole number from 0 to 65535 | `8477` | Port to listen on; 0: any free one. |',
    "| `key` | text, secret | none; only this machine's users may connect | Key that every request must carry. |",
    '| `backend` | `auto` · `bubblewrap` · `namespaces` · `landlock` · `docker` · `ssh` · `none` | `auto` | How commands are kept apart from the machine; `auto` takes the best that works here. |',
  ];
  for (const row of rows) assert.ok(guide.includes(`\n${row}\n`), row);
});
