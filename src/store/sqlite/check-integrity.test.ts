import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { describe, it } from 'node:test';
import { FakeClock } from '../../lib/fake-clock.ts';
import { countingIdSource } from '../../lib/ids.ts';
import { silentLog } from '../../lib/log.ts';
import { FakeConversation, firstPrompt } from '../fake-conversation.ts';
import type { Store } from '../store.ts';
import { createInlineBackground } from './background.ts';
import { checkIntegrity } from './check-integrity.ts';
import type { Database } from './open-database.ts';
import { openStateDatabase } from './open-state-database.ts';
import { createReader } from './reads.ts';
import { migrations } from './schema.ts';
import { createInlineWriter } from './writer.ts';

/** A database in memory with a closed and an open turn in it, and the store's verbs to get there. */
async function arrange(): Promise<{ database: Database; chat: FakeConversation }> {
  const database = openStateDatabase({ path: ':memory:', migrations, log: silentLog });
  const writer = createInlineWriter({ database, clock: new FakeClock() });
  const verbs: Partial<Store> = {
    read: createReader(database),
    admit: (admission) => writer.write('admit', admission),
    acquireLease: (...args) => writer.write('acquireLease', ...args),
    releaseLease: (lease) => writer.write('releaseLease', lease),
    commit: (lease, writes) => writer.write('commit', lease, writes),
  };
  const chat = new FakeConversation(verbs as Store, countingIdSource(), 'alpha');
  await chat.exchange('one', 'two');
  const turnId = await chat.openTurn('three', {
    contents: [{ sha256: hash('sha256', 'duck'), bytes: Buffer.from('duck') }],
  });
  await chat.callModel(turnId, { prompt: firstPrompt('runtime', 'a', 'b') });
  await chat.planCalls(turnId, 1);
  await chat.startModelCall(turnId, { prompt: { ...firstPrompt('runtime', 'c'), kept: 2, prefixBreak: null } });
  return { database, chat };
}

const breaches: Readonly<Record<string, { sql: string; finding: RegExp }>> = {
  'a gap in a log': {
    sql: 'DELETE FROM entries WHERE seq = 3',
    finding: /its log ends at 7, but it has 6 entries up to 7/,
  },
  'a log longer than its session says': { sql: 'UPDATE sessions SET last_seq = 5', finding: /ends at 5, but it has 7/ },
  'a wrong count of messages': { sql: 'UPDATE sessions SET messages = 9', finding: /counts 9 messages, but has 4/ },
  'an entry that can not be read': {
    sql: `UPDATE entries SET body = '{' WHERE seq = 4`,
    finding: /entry 4 of session ses_\w+ is not readable/,
  },
  'a session that forgot its open turn': { sql: `UPDATE sessions SET turn = 'none'`, finding: /the turn state none/ },
  'a session parked without a turn': { sql: `UPDATE sessions SET turn = 'parked'`, finding: /the turn state parked/ },
  'a closed turn with a call under way': {
    sql: `UPDATE turns SET state = 'closed', outcome = 'failed'`,
    finding: /call cal_\w+ is planned, but its turn is closed/,
  },
  'an answered message of an open turn': {
    sql: `UPDATE inbox SET state = 'answered'`,
    finding: /message inb_\w+ is answered, but its turn is open/,
  },
  'a closed turn with a model call under way': {
    sql: `UPDATE turns SET state = 'closed', outcome = 'failed'`,
    finding: /model call mdl_\w+ is under way, but its turn is closed/,
  },
  'a prompt that keeps what was not there': {
    sql: `UPDATE model_calls SET kept = 3, units = 4 WHERE kept = 2`,
    finding: /the prompt of model call mdl_\w+ keeps 3 of the 2 units/,
  },
  'a prompt with another number of units': {
    sql: `UPDATE model_calls SET units = 9 WHERE kept = 2`,
    finding: /has 9 units/,
  },
  'a prompt that breaks its prefix without a reason': {
    sql: `UPDATE model_calls SET kept = 1, units = 2 WHERE kept = 2`,
    finding: /keeps 1 of the 2 units before it, has 2 units and the reason none/,
  },
  'a first prompt without a reason': {
    sql: `UPDATE model_calls SET prefix_break = NULL`,
    finding: /keeps 0 of the 0 units before it, has 2 units and the reason none/,
  },
  'a session that forgot what it spent': {
    sql: 'UPDATE sessions SET spent_usd = 0.25',
    finding: /says it has spent 0.25, but its model calls cost 1.0/,
  },
  'sums that forgot a day': {
    sql: 'DELETE FROM usage_sums',
    finding: /say that 1.0 was spent and 20 tokens read, but/,
  },
  'sums that forgot a call': { sql: 'UPDATE usage_sums SET calls = 1', finding: /the totals say that/ },
  'a content that nobody refers to': {
    sql: 'DELETE FROM session_contents',
    finding: /no session refers to content \w+/,
  },
  'a content that has changed': {
    sql: `UPDATE contents SET bytes = x'00'`,
    finding: /content \w+ has changed: its hash is \w+/,
  },
  'a way back that leads forward': {
    sql: `UPDATE entries SET body = '{"kind":"rewound","toSeq":6}' WHERE seq = 6`,
    finding: /entry 6 of session ses_\w+ goes back to 6, which is not before it/,
  },
  'a way back that leads nowhere': {
    sql: `UPDATE entries SET body = '{"kind":"rewound"}' WHERE seq = 6`,
    finding: /entry 6 of session ses_\w+ goes back to nowhere/,
  },
  'choices that can not be read': {
    sql: `UPDATE outbox SET buttons = '['`,
    finding: /the choices under delivery out_\w+ are not readable/,
  },
  'a draft of nobody': {
    sql: `PRAGMA foreign_keys = OFF; INSERT INTO drafts VALUES ('ses_gone', 'web', '""', '""')`,
    finding: /a row of drafts refers to a row of sessions that is not there/,
  },
  'a reference to nothing': {
    sql: `PRAGMA foreign_keys = OFF; UPDATE outbox SET session_id = 'ses_gone'`,
    finding: /a row of outbox refers to a row of sessions that is not there/,
  },
};

void describe('integrity check', () => {
  void it('finds nothing where nothing is wrong', async () => {
    const { database } = await arrange();
    assert.deepEqual(checkIntegrity(database), []);
    const background = createInlineBackground({ database });
    assert.deepEqual(await background.check(), []);
    await background.close();
  });

  for (const [title, { sql, finding }] of Object.entries(breaches)) {
    void it(`finds ${title}`, async () => {
      const { database } = await arrange();
      database.exec(sql);
      const found = checkIntegrity(database);
      assert.ok(
        found.some((problem) => finding.test(problem)),
        `found only: ${found.join(' | ')}`,
      );
    });
  }
});
