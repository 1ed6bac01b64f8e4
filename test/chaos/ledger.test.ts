import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { promisify } from 'node:util';
import { Ledger, memoryOf } from './ledger.ts';

test('the ledger knows every effect as often as it happened', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'talaria-ledger-'));
  const ledger = await Ledger.start(folder);
  try {
    assert.deepEqual(await ledger.read(folder), []);
    for (const effect of ['one', 'one', 'two']) await promisify(execFile)('sh', ['-c', ledger.command(effect, 0)]);
    await mkdir(join(folder, 'memories'));
    await writeFile(join(folder, 'memories', 'MEMORY.md'), `- ${memoryOf('three')}\n`);
    assert.deepEqual(await ledger.read(folder), ['one', 'one', 'two', 'three']);
  } finally {
    await ledger.end();
    await rm(folder, { recursive: true });
  }
});
