/** Homes, disks and ports that can't be used: one clear line, exit code 1, and nothing of the user's is lost. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmod, chown, copyFile, mkdir, readdir, readFile, stat, symlink, truncate, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import {
  atEnd,
  freshFolder,
  freshHome,
  runTalaria,
  startGateway,
  startTalaria,
  type Finished,
} from './support/talaria-process.ts';

const isRoot = process.getuid?.() === 0;

function assertRefused(result: Finished, message: RegExp): void {
  assert.match(result.stderr, /^talaria: [^\n]+\n$/);
  assert.match(result.stderr, message);
  assert.deepEqual({ code: result.code, stdout: result.stdout }, { code: 1, stdout: '' });
}

/** Every command that needs the home refuses it in the same way. */
async function assertUnusable(test: TestContext, home: string, message: RegExp): Promise<void> {
  assertRefused(await runTalaria(test, ['-p', 'hello'], { home }), message);
  assertRefused(await runTalaria(test, ['gateway', '--port', '0'], { home }), message);
  assertRefused(await runTalaria(test, ['sessions', 'list'], { home }), message);
  const doctor = await runTalaria(test, ['doctor'], { home });
  assert.equal(doctor.code, 1);
  assert.match(doctor.stdout, /✗ .* {2}→ /);
}

/** A small file system of its own, or null where this user may not make one. */
async function mountSmall(test: TestContext, size: string): Promise<string | null> {
  const folder = await freshFolder(test);
  const home = join(folder, 'home');
  await mkdir(home);
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size},mode=0700`, 'talaria-test', home], { stdio: 'ignore' });
  } catch {
    return null;
  }
  atEnd(test, () => execFileSync('umount', ['--lazy', home], { stdio: 'ignore' }));
  return home;
}

const mountNeeded = 'a file system can not be mounted here';

describe('a home that', () => {
  test('is a file is refused', async (t) => {
    const home = await freshHome(t);
    await writeFile(home, 'precious');
    await assertUnusable(t, home, /is not a folder/);
    assert.equal(await readFile(home, 'utf8'), 'precious');
  });

  test('lies below a file is refused', async (t) => {
    const folder = await freshFolder(t);
    await writeFile(join(folder, 'file'), '');
    await assertUnusable(t, join(folder, 'file', 'home'), /is not a folder/);
  });

  test('belongs to another user is refused', { skip: !isRoot && 'needs root' }, async (t) => {
    const home = await freshHome(t);
    await mkdir(home, { mode: 0o700 });
    await chown(home, 12_345, 12_345);
    await assertUnusable(t, home, /belongs to another user/);
    assert.deepEqual(await readdir(home), []);
  });

  test('can not be written by this user is refused', { skip: isRoot && 'root may write anywhere' }, async (t) => {
    const home = await freshHome(t);
    await mkdir(home, { mode: 0o500 });
    atEnd(t, () => chmod(home, 0o700));
    await assertUnusable(t, home, /can't be written to/);
  });

  test('is on a read-only file system is refused', async (t) => {
    const home = await mountSmall(t, '4m');
    if (home === null) return t.skip(mountNeeded);
    await runTalaria(t, ['-p', 'hello', '--session', 'mine'], { home });
    execFileSync('mount', ['-o', 'remount,ro', home]);
    await assertUnusable(t, home, /read-only/);
  });

  test('is a link that leads nowhere is refused', async (t) => {
    const home = await freshHome(t);
    await symlink(`${home}-nowhere`, home);
    await assertUnusable(t, home, /is not a folder/);
    assert.match((await runTalaria(t, ['doctor'], { home })).stdout, /✗ home .* is a link that leads nowhere/);
  });

  test('would have to be made on a read-only file system is refused', async (t) => {
    const place = await mountSmall(t, '1m');
    if (place === null) return t.skip(mountNeeded);
    execFileSync('mount', ['-o', 'remount,ro', place]);
    await assertUnusable(t, join(place, 'home'), /read-only file system/);
  });

  test('is nearly full is looked at by the doctor to the end', async (t) => {
    const home = await mountSmall(t, '64k');
    if (home === null) return t.skip(mountNeeded);
    await writeFile(join(home, 'filler'), new Uint8Array(65_536)).catch(() => {});
    const { code, stdout, stderr } = await runTalaria(t, ['doctor'], { home });
    assert.deepEqual({ code, stderr }, { code: 1, stderr: '' });
    assert.match(stdout, /✗ only .* free on its disk[^]*✗ .*(skills|sandbox)[^]*model/);
  });

  test('is full is refused, and what was stored is still there afterwards', async (t) => {
    const home = await mountSmall(t, '4m');
    if (home === null) return t.skip(mountNeeded);
    assert.equal((await runTalaria(t, ['-p', 'hello', '--session', 'mine'], { home })).code, 0);
    const filler = join(home, 'filler');
    try {
      await writeFile(filler, new Uint8Array(16_000_000));
    } catch {
      // That is the point.
    }
    for (const args of [
      ['-p', 'hello', '--session', 'mine'],
      ['gateway', '--port', '0'],
    ]) {
      assertRefused(await runTalaria(t, args, { home }), /full/);
    }
    await truncate(filler, 0);
    const shown = await runTalaria(t, ['sessions', 'show', 'mine'], { home });
    assert.match(shown.stdout, /you .*\nhello\n/);
    assert.equal((await runTalaria(t, ['-p', 'hello again', '--session', 'mine'], { home })).code, 0);
  });

  test('fills up in the middle of a turn ends it with one line, and the question is kept', async (t) => {
    const home = await mountSmall(t, '4m');
    if (home === null) return t.skip(mountNeeded);
    const asking = startTalaria(t, ['-p', 'run sleep 1; head -c 16000000 /dev/zero > filler', '--session', 'mine'], {
      home,
    });
    const result = await asking.ended;
    assertRefused(result, /full/);
    await truncate(join(home, 'workspace', 'filler'), 0);
    const again = await runTalaria(t, ['-p', 'hello', '--session', 'mine'], { home });
    assert.equal(again.code, 0, again.stderr);
    const shown = await runTalaria(t, ['sessions', 'show', 'mine'], { home });
    assert.match(shown.stdout, /run sleep 1[^]*hello/);
  });
});

describe('a database that', () => {
  for (const bytes of [0, 100, 5_000]) {
    test(`was cut to ${bytes} bytes is refused and left as it is`, async (t) => {
      const home = await freshHome(t);
      await runTalaria(t, ['-p', 'hello', '--session', 'mine'], { home });
      const path = join(home, 'state.db');
      const backup = join(home, 'workspace', 'whole.db');
      await copyFile(path, backup);
      await truncate(path, bytes);
      await assertUnusable(t, home, /damaged/);
      assert.equal((await stat(path)).size, bytes);
      await copyFile(backup, path);
      assert.match((await runTalaria(t, ['sessions', 'list'], { home })).stdout, /mine/);
    });
  }

  test('is none is refused', async (t) => {
    const home = await freshHome(t);
    await mkdir(home, { mode: 0o700 });
    await writeFile(join(home, 'state.db'), 'this is not a database at all, just some text\n'.repeat(100));
    await assertUnusable(t, home, /damaged/);
  });
});

describe('a port that', () => {
  test('is in use is named, with another way', async (t) => {
    const home = await freshHome(t);
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    atEnd(t, () => server.close());
    const { port } = server.address() as AddressInfo;
    const result = await runTalaria(t, ['gateway', '--port', String(port)], { home });
    assertRefused(result, new RegExp(`127\\.0\\.0\\.1:${port}.*--port`));
    await runTalaria(t, ['config', 'set', 'gateway.port', String(port)], { home });
    const doctor = await runTalaria(t, ['doctor'], { home });
    assert.match(doctor.stdout, new RegExp(`✗ .*127\\.0\\.0\\.1:${port}.* {2}→ .*gateway\\.port`));
    // The home is free again for whoever comes next.
    assert.equal((await runTalaria(t, ['-p', 'hello'], { home })).code, 0);
  });

  test('a gateway hangs on is told from one that does not run', async (t) => {
    const home = await freshHome(t);
    const gateway = await startGateway(t, { home });
    const { child } = gateway.process;
    child.kill('SIGSTOP');
    t.after(() => child.kill('SIGCONT'));
    const refusal = new RegExp(`does not answer; if it stays so, end it with kill -9 ${child.pid} `);
    assertRefused(await runTalaria(t, ['status'], { home }), refusal);
    const doctor = await runTalaria(t, ['doctor'], { home });
    assert.match(doctor.stdout, /✗ the gateway at .* does not answer {2}→ end it with kill -9/);
  });

  test('other machines can reach is refused without a key', async (t) => {
    const home = await freshHome(t);
    assertRefused(await runTalaria(t, ['gateway', '--host', '0.0.0.0', '--port', '0'], { home }), /key is needed/);
  });

  test('another home’s gateway listens on now is not mistaken for our own', async (t) => {
    const [mine, other] = [await freshHome(t), await freshHome(t)];
    const gateway = await startGateway(t, { home: other });
    await mkdir(mine, { mode: 0o700 });
    // What a gateway leaves behind that was killed.
    const holder = { pid: 1, purpose: 'gateway', url: gateway.url, startedAt: 0 };
    await writeFile(join(mine, 'holder.json'), JSON.stringify(holder));
    assertRefused(await runTalaria(t, ['status'], { home: mine }), /no gateway runs/);
    assert.equal((await runTalaria(t, ['-p', 'hello', '--session', 'private'], { home: mine })).code, 0);
    assert.doesNotMatch((await runTalaria(t, ['sessions', 'list'], { home: other })).stdout, /private/);
  });
});
