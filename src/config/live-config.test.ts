import assert from 'node:assert/strict';
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { FakeClock } from '../lib/fake-clock.ts';
import { createLog } from '../lib/log.ts';
import { createRedactor } from '../lib/redact.ts';
import { openLiveConfig, type LiveConfig } from './live-config.ts';
import { ConfigError, formatProblem } from './problem.ts';

describe('openLiveConfig', () => {
  let home = '';
  let clock = new FakeClock();
  let lines: string[] = [];
  let ports: [before: number, now: number][] = [];
  let live: LiveConfig | null = null;
  let changed = Promise.withResolvers<void>();

  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'talaria-live-'));
    clock = new FakeClock();
    lines = [];
    ports = [];
    changed = Promise.withResolvers();
  });
  afterEach(async () => {
    live?.close();
    assert.equal(clock.pendingTimers, 0);
    await rm(home, { recursive: true, force: true });
  });

  const write = (text: string, name = 'config.yaml') => writeFile(join(home, name), text, { mode: 0o600 });
  const open = async (env = {}) => {
    const log = createLog({ clock, redactor: createRedactor(), level: 'debug', writeLine: (line) => lines.push(line) });
    live = await openLiveConfig({
      home,
      env,
      clock,
      log,
      onChange: (now, before) => {
        ports.push([before.config.gateway.port, now.config.gateway.port]);
        changed.resolve();
      },
    });
    return live;
  };

  test('begins with what the file says', async () => {
    await write('gateway: { port: 1 }\nchannels: { slack: { bot_token: x } }');
    const config = await open();
    assert.equal(config.current().gateway.port, 1);
    assert.equal(config.path, join(home, 'config.yaml'));
    assert.equal(config.loadedAt(), clock.now());
    assert.deepEqual([config.problems().length, config.warnings().length], [0, 1]);
  });

  test('refuses to begin with mistakes, all of them named', async () => {
    await write('gateway: { prot: 1 }\nzzz: 1');
    await assert.rejects(open(), (error: unknown) => {
      assert.ok(error instanceof ConfigError);
      assert.equal(error.reason, 'mistakes');
      assert.match(error.message, /^config\.yaml:1:12: unknown key .*\nconfig\.yaml:2:1: unknown key/);
      assert.equal(error.problems.length, 2);
      return true;
    });
    live = null;
  });

  test('takes over a file that was written, created, replaced or removed', async () => {
    const config = await open();
    for (const [port, change] of [
      [1, () => write('gateway: { port: 1 }')],
      [2, () => write('gateway: { port: 2 }')],
      [3, () => write('gateway: { port: 3 }', 'new').then(() => rename(join(home, 'new'), join(home, 'config.yaml')))],
      [8477, () => rm(join(home, 'config.yaml'))],
    ] as const) {
      await change();
      await clock.advance(1_200);
      await changed.promise;
      changed = Promise.withResolvers();
      assert.equal(config.current().gateway.port, port);
      assert.equal(config.loadedAt(), clock.now());
    }
    assert.deepEqual(ports, [
      [8477, 1],
      [1, 2],
      [2, 3],
      [3, 8477],
    ]);
  });

  test('takes over a change of .env', async () => {
    await write('gateway: { port: "${P}" }');
    const config = await open({ P: undefined }).catch(() => null);
    assert.equal(config, null);
    await write('P=1\n', '.env');
    const opened = await open();
    await write('P=2\n', '.env');
    await clock.advance(1_200);
    await changed.promise;
    assert.equal(opened.current().gateway.port, 2);
  });

  test('waits until the file is still, so that half of it is never taken for the whole', async () => {
    const config = await open();
    await write('gateway: { port: 1 }');
    await clock.advance(1_000);
    await write('gateway: { port: 12 }');
    await clock.advance(200);
    await write('gateway: { port: 123 }');
    await clock.advance(200);
    assert.deepEqual(ports, []);
    await clock.advance(200);
    await changed.promise;
    assert.deepEqual(ports, [[8477, 123]]);
    assert.equal(config.current().gateway.port, 123);
  });

  test('keeps the last good configuration while the file has mistakes, and says so once', async () => {
    await write('gateway: { port: 1 }');
    const config = await open();
    const loadedAt = config.loadedAt();
    await clock.advance(500);
    await write('gateway: { port: x }');
    await config.reload();
    await config.reload();
    assert.equal(config.current().gateway.port, 1);
    assert.equal(config.loadedAt(), loadedAt);
    const problem = 'config.yaml:1:18: `gateway.port` must be a whole number from 0 to 65535, not "x"';
    assert.deepEqual(config.problems().map(formatProblem), [problem]);
    assert.deepEqual(
      lines.map((line) => JSON.parse(line) as unknown),
      [
        {
          time: new Date(clock.now()).toISOString(),
          level: 'warn',
          message: 'configuration has mistakes; the last good one stays in force',
          path: join(home, 'config.yaml'),
          problems: [problem],
        },
      ],
    );

    await write('gateway: { port: 1 } # fixed');
    await config.reload();
    assert.deepEqual(config.problems(), []);
    assert.deepEqual(ports, []);
    assert.match(lines[1] ?? '', /"configuration loaded".*"changed":false/);
  });

  test('does not call a change what changes nothing', async () => {
    await write('gateway: { port: 1 }');
    const config = await open();
    await write('# a comment\ngateway:\n  port: 1\n');
    await config.reload();
    assert.deepEqual([ports, lines], [[], []]);
  });

  test('reads in order when asked several times at once', async () => {
    const config = await open();
    await write('gateway: { port: 1 }');
    const first = config.reload();
    const second = config.reload();
    await Promise.all([first, second]);
    assert.deepEqual(ports, [[8477, 1]]);
  });

  test('does nothing any more after it is closed, even in the middle of a reading', async () => {
    const config = await open();
    await write('gateway: { port: 1 }');
    const reading = config.reload();
    config.close();
    config.close();
    await reading;
    await clock.advance(10_000);
    await config.reload();
    assert.equal(config.current().gateway.port, 8477);
    assert.deepEqual(ports, []);
  });

  test('survives that the home is gone for a while', async () => {
    await write('gateway: { port: 1 }');
    const config = await open();
    await rename(home, `${home}-away`);
    await clock.advance(1_200);
    await changed.promise;
    changed = Promise.withResolvers();
    await rename(`${home}-away`, home);
    await clock.advance(2_400);
    await changed.promise;
    assert.equal(config.current().gateway.port, 1);
  });
});
