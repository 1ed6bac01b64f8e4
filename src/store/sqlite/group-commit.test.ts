import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { countingIdSource } from '../../lib/ids.ts';
import { silentLog } from '../../lib/log.ts';
import type { NodeId, SessionId } from '../../protocol/ids.ts';
import { StoreError } from '../store.ts';
import { userText } from '../fake-conversation.ts';
import { commitTogether, type WriteOutcome } from './group-commit.ts';
import { openStateDatabase } from './open-state-database.ts';
import type { Database } from './open-database.ts';
import { migrations } from './schema.ts';
import type { WriteRequest } from './verbs.ts';

const ids = countingIdSource();
const owner: NodeId = ids.next('nod');

function open(): Database {
  return openStateDatabase({ path: ':memory:', migrations, log: silentLog });
}

function admission(sessionId: SessionId): WriteRequest {
  const key = `web:direct:${sessionId}`;
  const session = { kind: 'by-key', key, id: sessionId, name: sessionId, owner: 'owner' };
  const address = { channel: 'web', externalId: sessionId, sender: 'somebody', target: 'there' };
  const content = { inboxId: ids.next('inb'), message: userText('hello'), contents: [], title: 'hello', waitingMax: 1 };
  return { verb: 'admit', now: 1, arguments: [{ ...address, ...content, session }] };
}

/** A commit that finds no lease. */
function misfit(sessionId: SessionId): WriteRequest {
  return { verb: 'commit', now: 1, arguments: [{ sessionId, owner, token: 7 }, []] };
}

function shape(outcomes: readonly WriteOutcome[]): (true | string)[] {
  return outcomes.map((outcome) =>
    outcome.ok ? true : outcome.error instanceof StoreError ? outcome.error.reason : String(outcome.error),
  );
}

function countSessions(database: Database): number {
  return database.all('SELECT 1 FROM sessions').length;
}

void describe('group commit', () => {
  void it('answers in order, and a verb that fails rolls back alone', () => {
    const database = open();
    const [first, second] = [ids.next('ses'), ids.next('ses')];
    const bug: WriteRequest = { verb: 'admit', now: 1, arguments: [{ channel: 'web' }] };
    const outcomes = commitTogether(database, [admission(first), misfit(first), bug, admission(second)]);
    const [, , bugs] = shape(outcomes);
    assert.match(String(bugs), /^TypeError/);
    assert.deepEqual([...shape(outcomes).slice(0, 2), shape(outcomes)[3]], [true, 'lease-lost', true]);
    assert.equal(countSessions(database), 2);
    assert.equal(database.inTransaction, false);
  });

  void it('C86 if the transaction can not be committed, every verb in it failed and nothing is written', () => {
    const database = open();
    database.exec(`
      CREATE TABLE parents (id INTEGER PRIMARY KEY);
      CREATE TABLE children (parent INTEGER REFERENCES parents (id) DEFERRABLE INITIALLY DEFERRED);
      CREATE TRIGGER orphan AFTER INSERT ON inbox BEGIN INSERT INTO children VALUES (1); END;
    `);
    const requests = [admission(ids.next('ses')), admission(ids.next('ses'))];
    assert.deepEqual(shape(commitTogether(database, requests)), ['conflict', 'conflict']);
    assert.equal(countSessions(database), 0);
    database.exec('DROP TRIGGER orphan');
    assert.deepEqual(shape(commitTogether(database, requests)), [true, true]);
  });

  void it('C86 if SQLite gives up the transaction half-way, the verbs before that failed too', () => {
    const database = open();
    const [first, second, third] = [ids.next('ses'), ids.next('ses'), ids.next('ses')];
    database.exec(`
      CREATE TRIGGER give_up AFTER INSERT ON sessions WHEN new.id = '${second}'
      BEGIN SELECT raise(ROLLBACK, 'all of it'); END;
    `);
    const outcomes = commitTogether(database, [admission(first), admission(second), admission(third)]);
    assert.deepEqual(shape(outcomes), ['conflict', 'conflict', 'conflict']);
    assert.equal(countSessions(database), 0);
    assert.deepEqual(shape(commitTogether(database, [admission(third)])), [true]);
  });
});
