/** Every statement that runs per turn finds its rows by an index, however much is stored. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { present } from '../../lib/assert.ts';
import { FakeClock } from '../../lib/fake-clock.ts';
import { countingIdSource } from '../../lib/ids.ts';
import { FakeConversation, firstPrompt, leaseTtlMs, toolResult, userText } from '../fake-conversation.ts';
import type { Store } from '../store.ts';
import { abandonLeases } from './leases.ts';
import { resumeDeliveries } from './deliveries.ts';
import { loseAllModelCalls } from './lost-model-calls.ts';
import { createSchema } from './migrate.ts';
import { Database, type SqlValue } from './open-database.ts';
import { createReader } from './reads.ts';
import { migrations } from './schema.ts';
import { verbs } from './verbs.ts';
import { createInlineWriter } from './writer.ts';

class RecordingDatabase extends Database {
  readonly texts = new Set<string>();

  override run(sql: string, ...values: SqlValue[]): number {
    this.texts.add(sql);
    return super.run(sql, ...values);
  }

  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- as in the class above
  override get<Row>(sql: string, ...values: SqlValue[]): Row | undefined {
    this.texts.add(sql);
    return super.get<Row>(sql, ...values);
  }

  override all<Row>(sql: string, ...values: SqlValue[]): Row[] {
    this.texts.add(sql);
    return super.all<Row>(sql, ...values);
  }
}

async function workThrough(store: Store): Promise<void> {
  const ids = countingIdSource();
  const chat = new FakeConversation(store, ids, 'alpha');
  await chat.exchange('one', 'two');
  const turnId = await chat.openTurn('three');
  const budget = { sessionUsd: 100, dayUsd: 100 };
  const prompt = firstPrompt('runtime', 'a');
  await chat.callModel(turnId, { budget, prompt });
  await chat.startModelCall(null, { budget, prompt: { ...prompt, kept: 1, prefixBreak: null } });
  const [callId] = await chat.planCalls(turnId, 1);
  const started = present(callId, 'the call');
  await chat.commit(
    { verb: 'start-call', turnId, callId: started },
    {
      verb: 'settle-call',
      turnId,
      callId: started,
      message: toolResult(started, 'finished', 'x'),
      contents: [{ sha256: 'y', bytes: new Uint8Array(1) }],
      replies: [chat.reply('', { file: { name: 'y', content: { sha256: 'y', bytes: 1, mediaType: 'x' } } })],
    },
    { verb: 'notice', turnId, text: 'x' },
  );
  await store.requestStop(chat.sessionId);
  await store.renewLeases(chat.owner, leaseTtlMs);
  await chat.commit({ verb: 'close-turn', turnId, outcome: 'failed', reply: null });
  const [delivery] = await store.claimDeliveries(chat.owner, 10);
  await store.settleDelivery(present(delivery, 'the delivery').id, { kind: 'sent', platformId: null });
  for (const verb of ['retryParked', 'dropParked'] as const) {
    const parked = await chat.openTurn(verb);
    await chat.commit(
      { verb: 'append-nudge', turnId: parked, message: userText('x') },
      { verb: 'close-turn', turnId: parked, outcome: 'parked', reply: chat.reply('x') },
    );
    await store.releaseLease(chat.lease);
    await store[verb](chat.sessionId);
    await chat.own();
    const { openTurn } = await chat.journal();
    if (openTurn !== null)
      await chat.commit({ verb: 'close-turn', turnId: openTurn.id, outcome: 'failed', reply: null });
  }
  const [inParts] = await store.claimDeliveries(chat.owner, 10);
  await store.recordPartSent(present(inParts, 'the delivery').id, 'x');
  await talkBeside(store, chat);
  const { session, entries } = await chat.journal();
  await store.read.sessionByName('alpha');
  await store.read.sessions({ limit: 10 });
  await store.read.sessions({ limit: 10, owner: 'x' });
  await store.read.sessionsWithWork(10);
  await store.read.turnOfInbox(ids.next('inb'));
  await store.read.modelCalls(chat.sessionId);
  await store.read.modelCalls(chat.sessionId, turnId);
  await store.read.promptTrail(chat.sessionId, 'runtime');
  await store.read.usageSums('2026-01-01');
  await store.changeSettings(chat.sessionId, { model: null, effort: null });
  await chat.commit({ verb: 'set-title', title: 'x', by: 'model' });
  await store.restKey({ provider: 'x', keyId: 'x', reason: 'x', until: 1 });
  await store.wakeKey('x', 'x');
  await chat.say('with an image', { contents: [{ sha256: 'x', bytes: new Uint8Array(1) }] });
  await store.read.content('x');
  await store.importSession(ids.next('ses'), 'copy', 'owner', { ...session, name: 'copy', entries });
  await store.deleteSession(chat.sessionId);
}

/** What goes on beside the turns: messages of no turn, drafts, people who come, and sessions that are put aside. */
async function talkBeside(store: Store, chat: FakeConversation): Promise<void> {
  const { ids } = chat;
  const answers = { channel: 'web', externalId: 'x' };
  await store.queueMessage(chat.direct('x', { sessionId: null, answers }));
  await store.read.wasAnswered('web', 'x');
  const turnId = await chat.openTurn('with a draft');
  await chat.showDraft('x');
  await store.read.drafts('web');
  await chat.commit({ verb: 'close-turn', turnId, outcome: 'answered', reply: chat.reply('x') });
  await chat.commit({ verb: 'rewind', toSeq: 0 });
  for (const { id } of await store.claimDeliveries(chat.owner, 10)) {
    await store.settleDelivery(id, { kind: 'sent', platformId: null });
  }
  await store.noteDraft(chat.sessionId, null);
  const who = { channel: 'web', userId: 'x', name: 'x' };
  const limits = { pendingMax: 3, wrongMax: 5, lockMs: 1 };
  await store.requestPairing({ ...who, createdAt: 0, expiresAt: Number.MAX_SAFE_INTEGER, codeHash: 'x' }, limits);
  await store.approvePairing('y', 'user', limits);
  await store.approvePairing('x', 'user', limits);
  await store.addPerson({ ...who, role: 'user' });
  await store.removePerson('web', 'x');
  await store.recordRefusal(who);
  await store.read.refusals(10);
  await store.addApiKey({ name: 'x', sha256: 'x' });
  await store.removeApiKey('x');
  await store.addGrant({ sessionId: chat.sessionId, kind: 'x', subject: 'x', shown: 'x' });
  await store.read.isGranted(chat.sessionId, 'x', 'x');
  await store.removeGrant(1);
  await store.closeSession(chat.sessionId);
  await store.reopenSession(chat.sessionId, chat.key);
  await store.read.sessionByKey(chat.key);
  await store.reopenSession(ids.next('ses'), chat.key);
}

/** Partial indexes hold only what is under way; of the others a few rows are read, or what a partial index gave. */
const harmless =
  /USING (COVERING )?INDEX \w+_(waiting|open|unsettled|held|started|wished)|SCAN (CONSTANT ROW|totals|tombstones|refusals|oldest|json_each|\(subquery)/;

/** Where an index that is good enough for the rule above would still read what others have stored. */
const foundBy: Readonly<Record<string, RegExp>> = {
  sessions_by_owner: /FROM sessions WHERE owner = \?/,
  outbox_alone: /DELETE FROM outbox .*settled_at <= \?/,
};

void it('no statement of a turn reads a whole table', async () => {
  const database = new RecordingDatabase(':memory:', {});
  createSchema(database, migrations);
  database.texts.clear();
  const writer = createInlineWriter({ database, clock: new FakeClock() });
  const write = writer.write as (verb: string, ...args: unknown[]) => Promise<unknown>;
  const verbsByName = Object.fromEntries(
    Object.keys(verbs).map((name) => [name, (...args: unknown[]) => write(name, ...args)]),
  );
  await workThrough({ ...verbsByName, read: createReader(database) } as unknown as Store);
  abandonLeases(database);
  resumeDeliveries(database);
  loseAllModelCalls(database, 0);

  const statements = [...database.texts].filter((sql) => /^\s*(SELECT|INSERT|UPDATE|DELETE)/.test(sql));
  assert.ok(statements.length > 40);
  const planOf = (sql: string) => database.all<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`);
  for (const [index, pattern] of Object.entries(foundBy)) {
    const statement = present(
      statements.find((sql) => pattern.test(sql)),
      index,
    );
    assert.match(planOf(statement)[0]?.detail ?? '', new RegExp(`USING INDEX ${index} `));
  }
  const scans = statements.flatMap((sql) =>
    planOf(sql)
      .filter(({ detail }) => detail.startsWith('SCAN ') && !harmless.test(detail))
      .map(({ detail }) => `${detail}: ${sql}`),
  );
  assert.deepEqual(scans, []);
});
