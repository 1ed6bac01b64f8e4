import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';

const project = join(import.meta.dirname, '..');

describe('scripts/build.ts', () => {
  let root = '';
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'build-test-'));
    for (const path of [
      'scripts/build.ts',
      'src/lib/atomic-file.ts',
      'src/lib/compile-cache.ts',
      'src/lib/version.ts',
    ]) {
      cpSync(join(project, path), join(root, path));
    }
    symlinkSync(join(project, 'node_modules'), join(root, 'node_modules'));
    put('package.json', '{ "type": "module", "version": "1.2.3-test", "description": "not for the bundle" }');
    put('src/main.ts', main);
    put('src/lazy.ts', `import { parse } from 'yaml';\nexport const lazy: unknown = parse('a: [1, two]');`);
    put('src/store/sqlite/writer-thread.ts', `console.log('writer');`);
    put('src/store/sqlite/background-thread.ts', `console.log('background');`);
    put('src/tools/web/extract-thread.ts', `console.log('page');`);
    put('web/index.html', '<!doctype html>');
    put('web/icon.svg', '<svg/>');
    put(
      'web/src/main.tsx',
      `import { render } from 'preact';\nimport './style.css';\nrender(<p>hi</p>, document.body);`,
    );
    put('web/src/style.css', 'p { color: red }');
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  const main = `
    import { enableCompileCache } from './lib/compile-cache.ts';
    enableCompileCache();
    if (process.argv[2] === '--version') console.log((await import('./lib/version.ts')).version);
    else console.log(JSON.stringify((await import('./lazy.ts')).lazy));`;

  const put = (path: string, text: string) => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  const node = (...args: string[]) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8' });
    return { status, output: stdout.trim(), errors: stderr.trim() };
  };
  const build = () => node('scripts/build.ts');
  const filesIn = (folder: string) =>
    readdirSync(join(root, folder))
      .filter((name) => !name.startsWith('chunk-'))
      .sort();

  test('makes the program, its threads and the page, and warms the compile cache', () => {
    assert.deepEqual(build(), { status: 0, output: '', errors: '' });
    assert.deepEqual(filesIn('dist'), [
      '.compile-cache',
      'store-background.js',
      'store-writer.js',
      'talaria.js',
      'web',
      'web-extract.js',
    ]);
    assert.deepEqual(filesIn('dist/web'), ['app.css', 'app.js', 'icon.svg', 'index.html']);
    assert.deepEqual(node('dist/talaria.js', '--version'), { status: 0, output: '1.2.3-test', errors: '' });
    assert.deepEqual(node('dist/talaria.js'), { status: 0, output: '{"a":[1,"two"]}', errors: '' });
    assert.deepEqual(node('dist/store-writer.js'), { status: 0, output: 'writer', errors: '' });
  });

  test('the bundle carries the version and nothing else of package.json, and needs no node_modules', () => {
    build();
    rmSync(join(root, 'node_modules'));
    rmSync(join(root, 'package.json'));
    put('package.json', '{ "type": "module" }');
    assert.equal(node('dist/talaria.js', '--version').output, '1.2.3-test');
    assert.equal(node('dist/talaria.js').output, '{"a":[1,"two"]}');
    const text = readdirSync(join(root, 'dist')).map((name) =>
      name.endsWith('.js') ? readFileSync(join(root, 'dist', name), 'utf8') : '',
    );
    assert.doesNotMatch(text.join(''), /not for the bundle/);
  });

  test('leaves nothing of an earlier build', () => {
    build();
    put('dist/chunk-OLD.js', '');
    put('dist/web/old.js', '');
    build();
    assert.deepEqual(
      [existsSync(join(root, 'dist/chunk-OLD.js')), existsSync(join(root, 'dist/web/old.js'))],
      [false, false],
    );
  });

  test('a mistake in the code leaves the earlier build as it was', () => {
    build();
    put('src/lazy.ts', `import './missing.ts';`);
    const { status, errors } = build();
    assert.equal(status, 1);
    assert.match(errors, /Could not resolve ".\/missing.ts"[^]*src\/lazy.ts:1/);
    assert.equal(node('dist/talaria.js').output, '{"a":[1,"two"]}');
  });

  test('a program that does not start yet is still a build', () => {
    put('src/main.ts', `throw new Error('not today');`);
    const { status, errors } = build();
    assert.equal(status, 0);
    assert.match(errors, /the first start will be a little slower/);
  });
});
