import assert from 'node:assert/strict';
import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { acquireHomeLock, readHolder, type Holder, type HomeLock } from './home-lock.ts';

const me: Holder = { pid: process.pid, purpose: 'gateway', url: 'http://127.0.0.1:1', startedAt: 17 };

async function withHome(work: (home: string) => Promise<void> | void): Promise<void> {
  const home = await mkdtemp(join(tmpdir(), 'talaria-home-'));
  try {
    await work(home);
  } finally {
    await rm(home, { recursive: true });
  }
}

function acquired(home: string, holder = me): HomeLock {
  const result = acquireHomeLock(home, holder);
  assert.equal(result.kind, 'acquired');
  return result.kind === 'acquired' ? result.lock : assert.fail();
}

/** A process that takes the home, says how that went in one line, and waits to be ended. */
async function startHolder(home: string): Promise<{ child: ChildProcessByStdio<null, Readable, null>; said: string }> {
  const program = fileURLToPath(new URL('./fake-home-holder.ts', import.meta.url));
  const child = spawn(process.execPath, [program, home], { stdio: ['ignore', 'pipe', 'inherit'] });
  child.stdout.setEncoding('utf8');
  const [said] = (await once(child.stdout, 'data')) as [string];
  return { child, said: said.trim() };
}

void describe('home lock', () => {
  void it('one holds it, another is told who, and after the release it is free', async () => {
    await withHome((home) => {
      assert.equal(readHolder(home), null);
      const lock = acquired(home);
      const other = { ...me, purpose: 'other' };
      assert.deepEqual(acquireHomeLock(home, other), { kind: 'held', holder: me });
      lock.update({ ...me, url: null });
      assert.deepEqual(acquireHomeLock(home, other), { kind: 'held', holder: { ...me, url: null } });
      lock.release();
      lock.release();
      assert.equal(readHolder(home), null);
      acquired(home, other).release();
    });
  });

  void it('another process is told who holds it', async () => {
    await withHome(async (home) => {
      const lock = acquired(home);
      const { child, said } = await startHolder(home);
      assert.deepEqual(JSON.parse(said), { kind: 'held', holder: me });
      await once(child, 'close');
      // The refused one has not loosened it on its way out.
      assert.equal(acquireHomeLock(home, me).kind, 'held');
      lock.release();
    });
  });

  void it('C87 a holder killed with -9 frees it at once', async () => {
    await withHome(async (home) => {
      const { child, said } = await startHolder(home);
      assert.equal(said, 'acquired');
      const result = acquireHomeLock(home, me);
      assert.deepEqual([result.kind, result.kind === 'held' && result.holder?.pid], ['held', child.pid]);
      child.kill('SIGKILL');
      await once(child, 'exit');
      acquired(home).release();
    });
  });

  void it('is private and leaves nothing but its file', async () => {
    await withHome(async (home) => {
      const lock = acquired(home);
      assert.equal(statSync(join(home, 'holder.json')).mode & 0o777, 0o600);
      assert.deepEqual(JSON.parse(readFileSync(join(home, 'holder.json'), 'utf8')), me);
      lock.release();
      assert.deepEqual(await readdir(home), ['home.lock']);
    });
  });

  void it('a holder that can not be read is unknown, not an error', async () => {
    await withHome((home) => {
      const lock = acquired(home);
      for (const text of ['', 'half', 'null', '[]', '{"pid":1}']) {
        writeFileSync(join(home, 'holder.json'), text);
        assert.deepEqual(acquireHomeLock(home, me), { kind: 'held', holder: null });
      }
      lock.release();
    });
  });

  void it('a lock file with rubbish in it is emptied, not replaced', async () => {
    await withHome((home) => {
      writeFileSync(join(home, 'home.lock'), 'rubbish '.repeat(1000));
      const { ino } = statSync(join(home, 'home.lock'));
      const lock = acquired(home);
      assert.equal(statSync(join(home, 'home.lock')).ino, ino);
      assert.equal(acquireHomeLock(home, me).kind, 'held');
      lock.release();
    });
  });

  void it('a home that is not there is one clear sentence', async () => {
    await withHome((home) => {
      assert.throws(() => acquireHomeLock(join(home, 'nowhere'), me), { name: 'StoreError', reason: 'unavailable' });
    });
  });
});
