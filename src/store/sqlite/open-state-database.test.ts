/** Opening: new, damaged, foreign, newer and older databases. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { FakeClock } from '../../lib/fake-clock.ts';
import { countingIdSource } from '../../lib/ids.ts';
import { silentLog } from '../../lib/log.ts';
import { FakeConversation } from '../fake-conversation.ts';
import { StoreError, type StoreErrorReason } from '../store.ts';
import { schemaNumber } from './migrate.ts';
import { openDatabase } from './open-database.ts';
import { openStateDatabase } from './open-state-database.ts';
import { migrations, type Migration } from './schema.ts';
import { openSqliteStore } from './sqlite-store.ts';

function open(path: string, known: readonly Migration[] = migrations) {
  return openStateDatabase({ path, migrations: known, log: silentLog });
}

async function inFolder(work: (path: string, folder: string) => Promise<void> | void): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'talaria-open-'));
  try {
    await work(join(folder, 'state.db'), folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** A closed database with a conversation in it. */
async function fill(path: string): Promise<void> {
  const ids = countingIdSource();
  const options = { path, clock: new FakeClock(), owner: ids.next('nod'), log: silentLog, writer: 'inline' } as const;
  const store = await openSqliteStore(options);
  const chat = new FakeConversation(store, ids, 'alpha');
  for (let index = 0; index < 20; index++) await chat.exchange(`${index} ${'x'.repeat(3000)}`, 'y');
  await store.close();
}

function assertRefused(path: string, reason: StoreErrorReason, saying: RegExp, known = migrations): void {
  const before = readFileSync(path);
  assert.throws(
    () => open(path, known),
    (error) => {
      assert.ok(error instanceof StoreError, String(error));
      assert.equal(error.reason, reason);
      assert.match(error.message, saying);
      assert.doesNotMatch(error.message, /\n/);
      return true;
    },
  );
  assert.deepEqual(readFileSync(path), before, 'a refused database is left as it is');
}

void describe('a new database', () => {
  void it('is whole, private, and has the newest schema', async () => {
    await inFolder((path, folder) => {
      const database = open(path);
      assert.equal(schemaNumber(database), migrations.length);
      assert.equal(statSync(path).mode & 0o777, 0o600);
      database.close();
      assert.deepEqual(readdirSync(folder), ['state.db']);
    });
  });

  void it('is made anew if an earlier attempt was cut off', async () => {
    await inFolder((path, folder) => {
      writeFileSync(`${path}.creating`, 'half');
      writeFileSync(`${path}.creating-wal`, 'half');
      open(path).close();
      assert.deepEqual(readdirSync(folder), ['state.db']);
    });
  });

  void it('commits go to the disk before they are acknowledged', async () => {
    await inFolder((path) => {
      const database = open(path);
      const pragma = (name: string) => Object.values(database.get<Record<string, unknown>>(`PRAGMA ${name}`) ?? {})[0];
      assert.deepEqual([pragma('journal_mode'), pragma('synchronous'), pragma('foreign_keys')], ['wal', 2, 1]);
      database.close();
    });
  });
});

void describe('a damaged database is refused and left as it is', () => {
  void it('cut off in the middle of its last page, of a page, and of its first page', async () => {
    await inFolder(async (path) => {
      await fill(path);
      const { size } = statSync(path);
      for (const bytes of [size - 100, size - 4096, Math.floor(size / 2) + 17, 4096, 100]) {
        truncateSync(path, bytes);
        assertRefused(path, 'damaged', /state\.db is damaged .*talaria restore/);
      }
    });
  });

  void it('empty: a first start never leaves it so', async () => {
    await inFolder((path) => {
      writeFileSync(path, '');
      assertRefused(path, 'damaged', /it is empty/);
    });
  });

  void it('garbage', async () => {
    await inFolder((path) => {
      writeFileSync(path, 'this is not a database '.repeat(1000));
      assertRefused(path, 'damaged', /not a database/);
    });
  });

  void it('a database of some other program', async () => {
    await inFolder((path) => {
      const other = openDatabase(path);
      other.exec('CREATE TABLE things (name TEXT)');
      other.close();
      assertRefused(path, 'damaged', /not a database of Talaria/);
    });
  });

  void it('missing, but with its log left behind: a new one would be ruined by it', async () => {
    await inFolder((path) => {
      writeFileSync(`${path}-wal`, 'the newest entries');
      assert.throws(() => open(path), { reason: 'damaged', message: /state\.db-wal/ });
      assert.equal(existsSync(path), false);
    });
  });

  void it('a folder in its place', async () => {
    await inFolder((_path, folder) => {
      assert.throws(() => open(folder), { name: 'StoreError', reason: 'unavailable' });
    });
  });
});

const second: Migration = {
  number: 2,
  name: 'a colour',
  sql: `ALTER TABLE sessions ADD COLUMN colour TEXT NOT NULL DEFAULT 'grey'`,
};

void describe('schema numbers', () => {
  void it('a newer one is refused with advice', async () => {
    await inFolder((path) => {
      open(path, [...migrations, second]).close();
      assertRefused(path, 'newer-schema', /schema 2, this one knows 1.*upgrade Talaria.*state\.db\.before-2/);
    });
  });

  void it('an older one is copied and migrated, and its data is there', async () => {
    await inFolder(async (path) => {
      await fill(path);
      const database = open(path, [...migrations, second]);
      assert.equal(schemaNumber(database), 2);
      assert.deepEqual(
        database.all('SELECT name, colour, messages FROM sessions').map((row) => ({ ...(row as object) })),
        [{ name: 'alpha', colour: 'grey', messages: 40 }],
      );
      database.close();

      assert.equal(statSync(`${path}.before-2`).mode & 0o777, 0o600);
      const copy = open(`${path}.before-2`);
      assert.equal(schemaNumber(copy), 1);
      assert.equal(copy.all('SELECT 1 FROM entries').length, 80);
      copy.close();
    });
  });

  void it('a migration that fails changes nothing, and the next attempt makes its own copy', async () => {
    await inFolder(async (path) => {
      await fill(path);
      const broken = { ...second, sql: `${second.sql}; INSERT INTO nowhere VALUES (1)` };
      assertRefused(path, 'unavailable', /schema 1 to 2; it is unchanged/, [...migrations, broken]);
      const dangling = { ...second, sql: `UPDATE entries SET session_id = 'ses_nobody' WHERE seq = 1` };
      assertRefused(path, 'unavailable', /unchanged/, [...migrations, dangling]);
      writeFileSync(`${path}.before-2.writing`, 'cut off while it was copied');
      const database = open(path, [...migrations, second]);
      assert.equal(schemaNumber(database), 2);
      database.close();
    });
  });

  void it('a table may be rebuilt although others refer to it', async () => {
    await inFolder(async (path) => {
      await fill(path);
      const rebuild: Migration = {
        number: 2,
        name: 'rebuild leases and turns',
        sql: `CREATE TABLE new_turns AS SELECT * FROM turns; DROP TABLE turns;
          CREATE TABLE turns (session_id TEXT NOT NULL, id TEXT NOT NULL, state TEXT, PRIMARY KEY (session_id, id));
          INSERT INTO turns SELECT session_id, id, state FROM new_turns; DROP TABLE new_turns`,
      };
      const database = open(path, [...migrations, rebuild]);
      assert.equal(database.all('SELECT 1 FROM turns').length, 20);
      assert.equal(database.all('SELECT 1 FROM entries').length, 80);
      database.close();
    });
  });
});
