import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { transformSync } from 'esbuild';

const source = join(import.meta.dirname, 'compile-cache.ts');

function run(...args: string[]): string {
  const { NODE_COMPILE_CACHE: _, ...env } = process.env;
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', env });
  assert.deepEqual({ status, stderr }, { status: 0, stderr: '' });
  return stdout.trim();
}

describe('enableCompileCache', () => {
  let folder = '';
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'compile-cache-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  /** A program in the shape the build gives it: plain JavaScript in one flat folder. */
  async function writeBundle(): Promise<string> {
    await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
    await writeFile(join(folder, 'cache.js'), transformSync(await readFile(source, 'utf8'), { loader: 'ts' }).code);
    await writeFile(join(folder, 'part.js'), `console.log('part');`);
    await writeFile(
      join(folder, 'main.js'),
      `import { enableCompileCache } from './cache.js'; enableCompileCache(); await import('./part.js');`,
    );
    return join(folder, 'main.js');
  }

  test('keeps the compiled code beside the bundle', async () => {
    assert.equal(run(await writeBundle()), 'part');
    const [version = ''] = await readdir(join(folder, '.compile-cache'));
    assert.equal((await readdir(join(folder, '.compile-cache', version))).length, 1);
  });

  test('a folder that has moved keeps using what it has', async () => {
    run(await writeBundle());
    const before = folder;
    folder = `${before}-moved`;
    await rename(before, folder);
    assert.equal(run(join(folder, 'main.js')), 'part');
    const [version = ''] = await readdir(join(folder, '.compile-cache'));
    assert.equal((await readdir(join(folder, '.compile-cache', version))).length, 1);
  });

  test('says nothing where it can not write', async () => {
    const main = await writeBundle();
    await writeFile(join(folder, '.compile-cache'), 'a file in its place');
    assert.equal(run(main), 'part');
  });

  test('does nothing when running from source', () => {
    const program = `
      import { getCompileCacheDir } from 'node:module';
      import { enableCompileCache } from ${JSON.stringify(source)};
      enableCompileCache();
      console.log(getCompileCacheDir());`;
    assert.equal(run('--input-type=module', '-e', program), 'undefined');
    assert.equal(existsSync(join(import.meta.dirname, '.compile-cache')), false);
  });
});
