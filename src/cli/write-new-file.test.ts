import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { writeNewFile } from './write-new-file.ts';

async function setUp(t: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), 'talaria-write-'));
  t.after(() => rm(folder, { recursive: true }));
  return { folder, path: join(folder, 'file') };
}

const never = new AbortController().signal;

async function* pieces(...all: (string | Uint8Array | (() => void))[]): AsyncGenerator<string | Uint8Array> {
  for (const piece of all) {
    if (typeof piece === 'function') piece();
    else yield piece;
  }
}

describe('writing a new file', () => {
  test('makes it whole, private, and says how large it is', async (t) => {
    const { folder, path } = await setUp(t);
    assert.equal(await writeNewFile({ path, force: false, signal: never }, pieces('grün', Uint8Array.of(10))), 6);
    assert.equal(await readFile(path, 'utf8'), 'grün\n');
    assert.equal((await stat(path)).mode & 0o777, 0o600);
    assert.deepEqual(await readdir(folder), ['file']);
  });

  test('replaces another one only if told to', async (t) => {
    const { folder, path } = await setUp(t);
    await writeFile(path, 'old');
    const refused = { name: 'CliError', message: /file exists already; .*--force/, exitCode: 1 };
    await assert.rejects(writeNewFile({ path, force: false, signal: never }, pieces('new')), refused);
    assert.equal(await readFile(path, 'utf8'), 'old');
    await writeNewFile({ path, force: true, signal: never }, pieces('new'));
    assert.equal(await readFile(path, 'utf8'), 'new');
    assert.deepEqual(await readdir(folder), ['file']);
  });

  test('does not replace one that appeared meanwhile', async (t) => {
    const { path } = await setUp(t);
    const meanwhile = () => process.getBuiltinModule('node:fs').writeFileSync(path, 'theirs');
    await assert.rejects(
      writeNewFile({ path, force: false, signal: never }, pieces('a', meanwhile, 'b')),
      /exists already/,
    );
    assert.equal(await readFile(path, 'utf8'), 'theirs');
  });

  test('leaves nothing behind when its source fails or it is interrupted', async (t) => {
    const { folder, path } = await setUp(t);
    const fail = () => {
      throw new Error('the gateway died');
    };
    await assert.rejects(writeNewFile({ path, force: true, signal: never }, pieces('a', fail)), /the gateway died/);
    const interrupting = new AbortController();
    const interrupt = () => interrupting.abort(new Error('enough'));
    const { signal } = interrupting;
    await assert.rejects(writeNewFile({ path, force: true, signal }, pieces('a', interrupt, 'b')), /enough/);
    assert.deepEqual(await readdir(folder), []);
  });

  test('names the path as the user gave it', async (t) => {
    const { folder } = await setUp(t);
    const path = join(folder, 'nowhere', 'file');
    await assert.rejects(writeNewFile({ path, force: false, signal: never }, pieces('a')), { code: 'ENOENT', path });
    await assert.rejects(writeNewFile({ path: folder, force: true, signal: never }, pieces('a')), {
      message: `${folder} is not a regular file; use - for stdout`,
      exitCode: 2,
    });
  });
});
