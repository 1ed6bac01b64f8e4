import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { Channel, ChannelLimits, Delivery, DeliveryOutcome } from '../../channels/channel.ts';
import { FakeClock } from '../../lib/fake-clock.ts';
import { countingIdSource, type IdSource } from '../../lib/ids.ts';
import { silentLog } from '../../lib/log.ts';
import type { SessionId } from '../../protocol/ids.ts';
import { FakeConversation } from '../../store/fake-conversation.ts';
import { openSqliteStore } from '../../store/sqlite/sqlite-store.ts';
import { StoreError, type Store } from '../../store/store.ts';
import { attemptsMax, repetitionMark } from './deliver.ts';
import { createOutbox, type Outbox } from './outbox.ts';

/** `lost`: it arrives, but the answer does not. `silence`: it arrives, and then nothing more ever happens. */
type Behaviour = 'sent' | 'lost' | 'silence' | 'bug' | DeliveryOutcome;

interface World {
  readonly clock: FakeClock;
  store: Store;
  /** What the people see, by target. */
  readonly seen: { readonly target: string; readonly text: string }[];
  /** What was asked of the platform, arrived or not. */
  readonly asked: Delivery[];
  readonly ids: IdSource;
  readonly dedupeIds: string[];
  /** What the platform does with the next messages; then it takes everything. */
  readonly script: Behaviour[];
  reply(session: string, text: string): Promise<SessionId>;
  /** In its session, between its replies. */
  sendFile(session: string, caption: string): Promise<void>;
  /** The process dies, and another one starts. */
  crash(): Promise<void>;
  restart(): Promise<void>;
  /** Another process's outbox on the same store. */
  open(wrap?: (store: Store) => Store): void;
  poke(): Promise<void>;
  close(): Promise<void>;
}

const short = { textCharsMax: 50, dedupes: false } as const;
const deduping = { textCharsMax: 30, dedupes: true } as const;
/** Each is a part of its own under both. */
const [one, two, three] = ['1'.repeat(26), '2'.repeat(26), '3'.repeat(26)];
const longReply = [one, two, three].join('\n');

async function withWorld(limits: ChannelLimits, body: (world: World) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'outbox-'));
  const clock = new FakeClock();
  const ids = countingIdSource();
  const seen: World['seen'] = [];
  const asked: Delivery[] = [];
  const dedupeIds: string[] = [];
  const script: Behaviour[] = [];
  const conversations = new Map<string, FakeConversation>();
  let outbox: Outbox;

  const channel: Channel = {
    name: 'web',
    limits,
    start: () => Promise.resolve(),
    stop: () => Promise.resolve(),
    async deliver(delivery) {
      asked.push(delivery);
      const { target, text, dedupeId } = delivery;
      if (text.length > (limits.textCharsMax ?? Infinity)) return { kind: 'failed', error: 'too long' };
      const behaviour = script.shift() ?? 'sent';
      if (typeof behaviour === 'object') return behaviour;
      if (behaviour === 'bug') throw new TypeError('a bug of the channel');
      if (!limits.dedupes || !dedupeIds.includes(dedupeId)) seen.push({ target, text });
      dedupeIds.push(dedupeId);
      if (behaviour === 'silence') return new Promise(() => {});
      if (behaviour === 'lost') return { kind: 'retry', afterMs: 0, error: 'timed out' };
      return { kind: 'sent', platformId: `message ${seen.length}` };
    },
  };
  const world: World = {
    clock,
    store: await openStore(),
    seen,
    asked,
    ids,
    dedupeIds,
    script,
    async reply(session, text) {
      const chat = conversations.get(session) ?? new FakeConversation(world.store, ids, session);
      conversations.set(session, chat);
      await chat.exchange(text, text);
      return chat.sessionId;
    },
    async sendFile(session, caption) {
      const chat = conversations.get(session) ?? new FakeConversation(world.store, ids, session);
      conversations.set(session, chat);
      const bytes = Buffer.from(session);
      const sha256 = createHash('sha256').update(bytes).digest('hex');
      await chat.say(`with ${caption.length}`, { contents: [{ sha256, bytes }] });
      const file = { name: `${session}.pdf`, content: { sha256, bytes: bytes.length, mediaType: 'application/pdf' } };
      await world.store.queueMessage(chat.direct(caption, { file }));
    },
    async crash() {
      await world.store.close();
      world.store = await openStore();
      world.open();
    },
    async restart() {
      await outbox.close();
      await world.crash();
    },
    open(wrap = (store) => store) {
      const owner = ids.next('nod');
      outbox = createOutbox({
        store: wrap(world.store),
        owner,
        clock,
        log: silentLog,
        channels: new Map([['web', channel]]),
      });
    },
    async poke() {
      outbox.poke();
      await clock.advance(0);
    },
    async close() {
      await outbox.close();
      await world.store.close();
    },
  };
  async function openStore(): Promise<Store> {
    const path = join(folder, 'state.db');
    return openSqliteStore({ path, clock, log: silentLog, owner: ids.next('nod'), writer: 'inline' });
  }
  world.open();
  try {
    await body(world);
  } finally {
    await world.close();
    await rm(folder, { recursive: true });
  }
}

const texts = (world: World) => world.seen.map(({ text }) => text);
const pending = async (world: World) => (await world.store.read.totals()).outboxPending;
const refused: DeliveryOutcome = { kind: 'retry', afterMs: 0, error: 'too many requests', notSent: true };

void describe('delivery', () => {
  void test('a long answer goes out in parts, in order, each within the limit', async () => {
    await withWorld(short, async (world) => {
      await world.reply('alpha', longReply);
      await world.poke();
      assert.deepEqual(texts(world), [one, two, three]);
      assert.equal(await pending(world), 0);
    });
  });

  void test('a channel without a limit gets the whole answer at once', async () => {
    await withWorld({ textCharsMax: null, dedupes: true }, async (world) => {
      await world.reply('alpha', longReply);
      await world.poke();
      assert.deepEqual(texts(world), [longReply]);
    });
  });

  void test('C89 after a crash between parts it goes on with the part that was under way, marked', async () => {
    await withWorld(short, async (world) => {
      world.script.push('sent', 'silence');
      await world.reply('alpha', longReply);
      await world.poke();
      await world.crash();
      await world.poke();
      assert.deepEqual(texts(world), [one, two, repetitionMark + two, three]);
      assert.equal(await pending(world), 0);
    });
  });

  void test('C89 where the platform dedupes, a part keeps its id and nothing is marked or doubled', async () => {
    await withWorld(deduping, async (world) => {
      world.script.push('sent', 'silence');
      await world.reply('alpha', longReply);
      await world.poke();
      await world.crash();
      await world.poke();
      assert.deepEqual(texts(world), [one, two, three]);
      const [first] = world.dedupeIds;
      const id = first?.split('/')[0] ?? '';
      assert.match(id, /^out_/);
      assert.deepEqual(world.dedupeIds, [`${id}/1`, `${id}/2`, `${id}/2`, `${id}/3`]);
    });
  });

  void test('C89 an answer of the platform that was lost leads to one marked copy of that part', async () => {
    await withWorld(short, async (world) => {
      world.script.push('sent', 'lost');
      await world.reply('alpha', longReply);
      await world.poke();
      assert.deepEqual(texts(world), [one, two]);
      await world.clock.advance(10_000);
      assert.deepEqual(texts(world), [one, two, repetitionMark + two, three]);
    });
  });

  void test('a part has room for the mark', async () => {
    await withWorld(short, async (world) => {
      world.script.push('lost');
      await world.reply('alpha', 'x'.repeat(60));
      await world.poke();
      await world.clock.advance(10_000);
      const [full, rest] = ['x'.repeat(30), 'x'.repeat(30)];
      assert.deepEqual(texts(world), [full, repetitionMark + full, rest]);
    });
  });

  void test('what the platform surely did not take is sent again without a mark', async () => {
    await withWorld(short, async (world) => {
      world.script.push('sent', refused, 'sent');
      await world.reply('alpha', longReply);
      await world.poke();
      await world.clock.advance(10_000);
      assert.deepEqual(texts(world), [one, two, three]);
    });
  });

  void test('a stop between parts leaves the rest to the next start, unmarked', async () => {
    await withWorld(short, async (world) => {
      const stops: Promise<void>[] = [];
      world.open((store) => ({
        ...store,
        async recordPartSent(id, platformId) {
          if (stops.length === 0) stops.push(world.restart());
          await store.recordPartSent(id, platformId);
        },
      }));
      await world.reply('alpha', longReply);
      await world.poke();
      await Promise.all(stops);
      assert.deepEqual(texts(world), [one]);
      await world.poke();
      assert.deepEqual(texts(world), [one, two, three]);
    });
  });

  void test('a later answer of a session waits for the earlier one, other sessions do not', async () => {
    await withWorld(short, async (world) => {
      await world.reply('alpha', longReply);
      await world.reply('alpha', 'and one more');
      await world.reply('beta', 'something else');
      world.script.push(refused);
      await world.poke();
      assert.deepEqual(world.seen, [{ target: 'to beta', text: 'something else' }]);
      await world.clock.advance(10_000);
      assert.deepEqual(texts(world), ['something else', one, two, three, 'and one more']);
    });
  });

  void test('a platform that hangs in one session holds up no other', async () => {
    await withWorld(short, async (world) => {
      world.script.push('silence');
      await world.reply('alpha', 'hello');
      await world.poke();
      await world.reply('beta', 'hello too');
      await world.poke();
      assert.deepEqual(texts(world), ['hello', 'hello too']);
      await world.crash();
    });
  });

  void test('the waits grow, and the platform may ask for a longer one', async () => {
    await withWorld(short, async (world) => {
      const triedAt: number[] = [];
      const startedAt = world.clock.now();
      world.open((store) => ({
        ...store,
        settleDelivery(id, settlement) {
          if (settlement.kind === 'retry') triedAt.push(settlement.notBefore - startedAt);
          return store.settleDelivery(id, settlement);
        },
      }));
      world.script.push(refused, refused, { ...refused, afterMs: 60_000 }, refused);
      await world.reply('alpha', 'hello');
      await world.poke();
      await world.clock.advance(3_600_000);
      assert.deepEqual(triedAt, [5_000, 15_000, 75_000, 115_000]);
      assert.deepEqual(texts(world), ['hello']);
    });
  });

  void test('a part is given up after so many attempts, with the error, and the next answer goes out', async () => {
    await withWorld(short, async (world) => {
      const failures: unknown[] = [];
      world.open((store) => ({
        ...store,
        settleDelivery(id, settlement) {
          if (settlement.kind === 'failed') failures.push(settlement);
          return store.settleDelivery(id, settlement);
        },
      }));
      // An earlier part's attempts don't count for a later one.
      const doubtful = { kind: 'retry', afterMs: 0, error: 'no answer' } as const;
      world.script.push(refused, 'sent', ...Array.from({ length: attemptsMax }, () => doubtful));
      await world.reply('alpha', longReply);
      await world.reply('alpha', 'next');
      await world.poke();
      await world.clock.advance(2 * 3_600_000);
      assert.deepEqual([texts(world), failures], [[one], []]);
      await world.clock.advance(2 * 3_600_000);
      assert.deepEqual(texts(world), [one, 'next']);
      assert.deepEqual(failures, [{ kind: 'failed', error: 'given up after 12 attempts: no answer' }]);
    });
  });

  void test('while a platform can not be reached nothing is given up, and a minute after it can all goes out', async () => {
    await withWorld(short, async (world) => {
      world.script.push(...Array.from({ length: 3 * attemptsMax }, () => refused));
      // A first doubt, when it can be reached again, is no reason to give up either.
      world.script.push('lost');
      await world.reply('alpha', 'hello');
      await world.reply('alpha', 'next');
      await world.poke();
      while (world.script.length > 1) await world.clock.advance(60_000);
      assert.deepEqual(texts(world), []);
      await world.clock.advance(125_000);
      assert.deepEqual(texts(world), ['hello', `${repetitionMark}hello`, 'next']);
    });
  });

  void test('what arrived is not sent again because the store failed to hear of it', async () => {
    await withWorld(short, async (world) => {
      let isFull = true;
      const whenRoom = (write: () => Promise<void>) =>
        isFull ? Promise.reject(new StoreError('disk-full', 'The disk is full.')) : write();
      world.open((store) => ({
        ...store,
        recordPartSent: (id, platformId) => whenRoom(() => store.recordPartSent(id, platformId)),
      }));
      await world.reply('alpha', longReply);
      await world.poke();
      await world.clock.advance(60_000);
      assert.deepEqual(texts(world), [one]);
      isFull = false;
      await world.clock.advance(5_000);
      assert.deepEqual(texts(world), [one, two, three]);
    });
  });

  void test('a channel that throws costs its session a wait, not its answers', async () => {
    await withWorld(short, async (world) => {
      world.script.push('bug');
      await world.reply('alpha', 'hello');
      await world.poke();
      await world.clock.advance(10_000);
      assert.deepEqual(texts(world), [`${repetitionMark}hello`]);
    });
  });

  void test('an answer for a channel that is not there waits until it is', async () => {
    await withWorld(short, async (world) => {
      await world.reply('alpha', 'hello');
      const nobody = createOutbox({
        store: world.store,
        owner: countingIdSource().next('nod'),
        clock: world.clock,
        log: silentLog,
        channels: new Map(),
      });
      nobody.poke();
      await world.clock.advance(0);
      await nobody.close();
      assert.deepEqual([texts(world), await pending(world)], [[], 1]);
    });
  });

  void test('C89 the first part takes the place of the draft, and is not marked however often that is tried', async () => {
    await withWorld(short, async (world) => {
      const sessionId = await world.reply('alpha', longReply);
      await world.store.noteDraft(sessionId, { channel: 'web', target: 'to alpha', platformId: 'draft 1' });
      world.script.push('lost', 'silence');
      await world.poke();
      await world.clock.advance(10_000);
      await world.crash();
      await world.poke();
      assert.deepEqual(
        world.asked.map(({ text, replaces }) => [text, replaces]),
        [
          [one, 'draft 1'],
          [one, 'draft 1'],
          [one, 'draft 1'],
          [two, null],
          [three, null],
        ],
      );
    });
  });

  void test('a draft that an answer takes the place of is tried again every minute: no try leaves a copy', async () => {
    await withWorld(short, async (world) => {
      world.script.push(...Array.from({ length: 2 * attemptsMax }, () => 'lost' as const));
      const sessionId = await world.reply('alpha', 'hello');
      await world.store.noteDraft(sessionId, { channel: 'web', target: 'to alpha', platformId: 'draft 1' });
      await world.poke();
      await world.clock.advance(2 * attemptsMax * 65_000);
      assert.deepEqual(new Set(texts(world)), new Set(['hello']));
      assert.deepEqual([world.asked.length, await pending(world)], [2 * attemptsMax + 1, 0]);
    });
  });

  void test('the draft is forgotten when the part that replaced it is on record, not before', async () => {
    await withWorld(short, async (world) => {
      const sessionId = await world.reply('alpha', longReply);
      await world.store.noteDraft(sessionId, { channel: 'web', target: 'to alpha', platformId: 'draft 1' });
      world.script.push(refused, 'sent', 'silence');
      await world.poke();
      assert.equal((await world.store.read.drafts('web')).length, 1);
      await world.clock.advance(10_000);
      assert.deepEqual([texts(world), await world.store.read.drafts('web')], [[one, two], []]);
      await world.crash();
    });
  });

  void test('a draft somewhere else is left alone', async () => {
    await withWorld(short, async (world) => {
      const sessionId = await world.reply('alpha', 'hello');
      await world.store.noteDraft(sessionId, { channel: 'web', target: 'elsewhere', platformId: 'draft 1' });
      await world.poke();
      assert.deepEqual([world.asked[0]?.replaces, (await world.store.read.drafts('web')).length], [null, 1]);
    });
  });

  void test('a file goes out with its caption and its bytes, in the order of its session', async () => {
    await withWorld(short, async (world) => {
      await world.reply('alpha', 'one');
      await world.sendFile('alpha', 'see page 2');
      await world.reply('alpha', 'two');
      await world.poke();
      assert.deepEqual(
        world.asked.map(({ file, text }) => [file?.name ?? null, file?.mediaType ?? null, text]),
        [
          [null, null, 'one'],
          ['alpha.pdf', 'application/pdf', 'see page 2'],
          [null, null, 'two'],
        ],
      );
      assert.deepEqual(await world.asked[1]?.file?.bytes(), Uint8Array.from(Buffer.from('alpha')));
    });
  });

  void test('a caption that is too long for one follows its file; what has arrived is not sent again', async () => {
    await withWorld({ ...short, textCharsMax: 90, captionCharsMax: 40 }, async (world) => {
      world.script.push('sent', 'lost');
      await world.sendFile('alpha', one);
      await world.poke();
      await world.clock.advance(60_000);
      assert.deepEqual(
        world.asked.map(({ file, text }) => [file?.name ?? null, text]),
        [
          ['alpha.pdf', ''],
          [null, one],
          [null, `${repetitionMark}${one}`],
        ],
      );
      assert.equal(await pending(world), 0);
    });
  });

  void test('a file that may have arrived is marked when it comes again, also without a caption', async () => {
    await withWorld(short, async (world) => {
      world.script.push('lost');
      await world.sendFile('alpha', 'hm');
      await world.sendFile('beta', '');
      await world.poke();
      await world.clock.advance(60_000);
      assert.deepEqual(
        world.asked.map(({ file, text }) => [file?.name ?? null, text]),
        [
          ['alpha.pdf', 'hm'],
          ['beta.pdf', ''],
          ['alpha.pdf', '(possibly repeated) hm'],
        ],
      );
    });
    await withWorld(short, async (world) => {
      world.script.push('lost');
      await world.sendFile('beta', '');
      await world.poke();
      await world.clock.advance(60_000);
      assert.deepEqual(texts(world), ['', '(possibly repeated)']);
    });
  });

  void test('buttons stand under the last part, and what belongs to no session goes out like the rest', async () => {
    await withWorld(short, async (world) => {
      const buttons = [{ label: 'Yes', value: '/new yes' }];
      const message = {
        channel: 'web',
        target: 'a stranger',
        text: longReply,
        buttons,
        sessionId: null,
        answers: null,
      };
      await world.store.queueMessage({ ...message, outboxId: world.ids.next('out') });
      await world.poke();
      assert.deepEqual(
        world.asked.map((delivery) => [delivery.sessionId, delivery.target, delivery.text, delivery.buttons]),
        [
          [null, 'a stranger', one, []],
          [null, 'a stranger', two, []],
          [null, 'a stranger', three, buttons],
        ],
      );
      assert.equal(await pending(world), 0);
    });
  });
});
