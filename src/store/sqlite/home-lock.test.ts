import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, readFileSync, statSync, writeFileSync } from 'node:fs';
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

interface OtherProcess {
  readonly pid: number | undefined;
  /** What it said about taking the home; null if it could not even start. */
  readonly said: unknown;
  end(): Promise<void>;
}

async function startHolder(home: string, user: { uid?: number; gid?: number } = {}): Promise<OtherProcess> {
  const program = fileURLToPath(new URL('./fake-home-holder.ts', import.meta.url));
  const child = spawn(process.execPath, [program, home], { stdio: ['ignore', 'pipe', 'ignore'], ...user });
  const exited = once(child, 'close').catch(() => {});
  const line = await firstText(child.stdout);
  return {
    pid: child.pid,
    said: line === '' ? null : JSON.parse(line),
    async end() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}

async function firstText(stream: Readable): Promise<string> {
  for await (const chunk of stream.iterator({ destroyOnReturn: false })) return String(chunk);
  return '';
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
      const other = await startHolder(home);
      await other.end();
      assert.deepEqual(other.said, { kind: 'held', holder: me });
      // The refused one has not loosened it on its way out.
      assert.equal(acquireHomeLock(home, me).kind, 'held');
      lock.release();
    });
  });

  void it('C87 a holder killed with -9 frees it at once', async () => {
    await withHome(async (home) => {
      const other = await startHolder(home);
      const result = acquireHomeLock(home, me);
      await other.end();
      assert.deepEqual(other.said, { kind: 'acquired' });
      assert.deepEqual([result.kind, result.kind === 'held' && result.holder?.pid], ['held', other.pid]);
      acquired(home).release();
    });
  });

  void it('a lock file that may only be read is no lock', async (context) => {
    const nobody = 65_534;
    if (process.getuid?.() !== 0) return context.skip('needs root to become another user');
    await withHome(async (home) => {
      writeFileSync(join(home, 'home.lock'), '', { mode: 0o644 });
      chownSync(home, nobody, nobody);
      const other = await startHolder(home, { uid: nobody, gid: nobody });
      await other.end();
      if (other.said === null) return context.skip('another user may not read this checkout');
      assert.deepEqual(other.said, { kind: 'failed', reason: 'read-only' });
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
