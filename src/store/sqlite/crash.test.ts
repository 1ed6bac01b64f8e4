/** What a killed process leaves: everything that was acknowledged, and nothing half. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { present } from '../../lib/assert.ts';
import { FakeClock } from '../../lib/fake-clock.ts';
import { countingIdSource } from '../../lib/ids.ts';
import { silentLog } from '../../lib/log.ts';
import { assistantCalls, FakeConversation, modelCallStarted, toolResult } from '../fake-conversation.ts';
import type { JournalSlice, SessionWrite, Store } from '../store.ts';
import { checkIntegrity } from './check-integrity.ts';
import { commitTogether } from './group-commit.ts';
import { Database, openDatabase, useWriteAheadLog } from './open-database.ts';
import { openSqliteStore } from './sqlite-store.ts';
import type { WriteRequest } from './verbs.ts';

const ids = countingIdSource();

async function withFolder(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'talaria-crash-'));
  try {
    await work(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

function open(path: string): Promise<Store> {
  const options = { path, clock: new FakeClock(), owner: ids.next('nod'), log: silentLog };
  return openSqliteStore({ ...options, writer: 'inline' });
}

/** Runs the writing process until it has acknowledged so many commits, then kills it; what it acknowledged in all. */
async function writeUntilKilled(path: string, how: readonly string[], commits: number): Promise<string[]> {
  const program = fileURLToPath(new URL('./fake-crashing-writer.ts', import.meta.url));
  const child = spawn(process.execPath, [program, path, ...how], { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.setEncoding('utf8');
  child.stdout.on('data', (text: string) => {
    output += text;
    if (output.split('\n').length > commits) child.kill('SIGKILL');
  });
  const [code, signal] = await new Promise<[number | null, string | null]>((resolve) => {
    child.on('close', (...ended) => resolve(ended));
  });
  assert.deepEqual([code, signal], [null, 'SIGKILL']);
  return output.split('\n').slice(0, -1);
}

void describe('after kill -9', () => {
  for (const writer of ['thread', 'inline']) {
    void it(`C87 every acknowledged commit is there and none is half, ${writer}`, async () => {
      await withFolder(async (folder) => {
        const path = join(folder, 'state.db');
        // The second process starts from what the first one left behind.
        const first = await writeUntilKilled(path, [writer, 'first'], 150);
        const second = await writeUntilKilled(path, [writer, 'second'], 300);
        await checkSurvivors(path, [...first, ...second]);
      });
    });
  }
});

async function checkSurvivors(path: string, acknowledged: readonly string[]): Promise<void> {
  const store = await open(path);
  try {
    assert.deepEqual(await store.checkIntegrity(), []);
    const newest = new Map(acknowledged.map((line) => line.split(' ') as [string, string]));
    assert.ok(newest.size > 1, 'several sessions were writing');
    for (const [name, number] of newest) {
      const session = present(await store.read.sessionByName(name), name);
      const { entries, openTurn } = present(await store.read.journal(session.id, 0), name);
      const notices = entries.flatMap((entry) => (entry.kind === 'notice' ? [entry.text] : []));
      assert.ok(notices.length >= 2 * (Number(number) + 1), `${name} lost acknowledged commits`);
      assert.deepEqual(notices, pairs(notices.length / 2));
      // The kill came inside a turn, and the next owner is told so at once.
      assert.notEqual(openTurn, null);
      assert.notEqual(await store.acquireLease(session.id, ids.next('nod'), 1000), null);
      assert.equal((await store.read.journal(session.id, 0))?.openTurn?.crashes, 1);
    }
  } finally {
    await store.close();
  }
}

function pairs(count: number): string[] {
  return Array.from({ length: count }, (_, index) => [String(index), `${index}, too`]).flat();
}

/** Keeps a copy of the files as they are before each statement that writes: what a kill at that moment would leave. */
class PhotographedDatabase extends Database {
  readonly photos: { readonly path: string; readonly before: string }[] = [];
  #folder: string | null = null;

  photographInto(folder: string): void {
    this.#folder = folder;
  }

  override run(sql: string, ...values: (string | number | null)[]): number {
    this.photograph(sql);
    return super.run(sql, ...values);
  }

  photograph(before: string): void {
    if (this.#folder === null) return;
    const folder = join(this.#folder, String(this.photos.length));
    mkdirSync(folder);
    const path = join(folder, 'state.db');
    for (const suffix of ['', '-wal'])
      if (existsSync(this.path + suffix)) copyFileSync(this.path + suffix, path + suffix);
    this.photos.push({ path, before });
  }
}

void it('C87 a kill between any two statements of a commit leaves all of it or nothing', async () => {
  await withFolder(async (folder) => {
    const path = join(folder, 'state.db');
    const store = await open(path);
    const chat = new FakeConversation(store, countingIdSource(), 'alpha');
    const turnId = await chat.openTurn('one');
    const [callId] = await chat.planCalls(turnId, 1);
    assert.ok(callId !== undefined);
    const waiting = await chat.say('two');
    const before = await chat.journal();

    const modelCallId = chat.ids.next('mdl');
    const call = chat.plannedCall('{}');
    const writes: SessionWrite[] = [
      { verb: 'settle-call', turnId, callId, message: toolResult(callId, 'finished', 'x'.repeat(50_000)) },
      { verb: 'join-turn', turnId, promote: [waiting] },
      modelCallStarted(turnId, modelCallId),
      { verb: 'append-answer', turnId, modelCallId, message: assistantCalls([call]), calls: [call] },
      { verb: 'settle-call', turnId, callId: call.id, message: toolResult(call.id, 'skipped', '') },
      { verb: 'close-turn', turnId, outcome: 'answered', reply: chat.reply('done') },
    ];
    const photos = photographed(path, folder, { verb: 'commit', now: 0, arguments: [chat.lease, writes] });
    const after = await chat.journal();
    await store.close();

    assert.equal(photos[0]?.before, 'BEGIN IMMEDIATE');
    assert.equal(photos.at(-2)?.before, 'COMMIT');
    assert.ok(photos.length > 20);
    for (const photo of photos.slice(0, -1)) {
      assert.deepEqual(await journalOf(photo.path, chat), before, `killed before ${photo.before}`);
    }
    assert.deepEqual(await journalOf(present(photos.at(-1), 'the last photo').path, chat), after);
    assert.deepEqual([after.session.turn, after.session.lastSeq], ['none', before.session.lastSeq + 5]);
  });
});

function photographed(path: string, folder: string, request: WriteRequest): PhotographedDatabase['photos'] {
  const database = new PhotographedDatabase(path, {});
  try {
    useWriteAheadLog(database, 'FULL');
    database.photographInto(folder);
    const [outcome] = commitTogether(database, [request]);
    assert.equal(outcome?.ok, true);
    database.photograph('the end');
    return database.photos;
  } finally {
    database.close();
  }
}

async function journalOf(path: string, chat: FakeConversation): Promise<JournalSlice> {
  const store = await open(path);
  const database = openDatabase(path);
  try {
    assert.deepEqual(checkIntegrity(database), []);
    return present(await store.read.journal(chat.sessionId, 0), 'the journal');
  } finally {
    database.close();
    await store.close();
  }
}
