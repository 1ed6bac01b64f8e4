/**
 * Fifty people with secrets, in direct chats, groups and threads, on one store and one home: whatever one of them looks
 * for, in conversations or in the memory, nothing of another's comes up, and nothing private where others read along.
 */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { ownerOf, sessionKeyOf } from '../src/gateway/route-session.ts';
import type { Place } from '../src/channels/channel.ts';
import { FakeClock } from '../src/lib/fake-clock.ts';
import { countingIdSource } from '../src/lib/ids.ts';
import { silentLog } from '../src/lib/log.ts';
import type { SessionId } from '../src/protocol/ids.ts';
import { FakeConversation } from '../src/store/fake-conversation.ts';
import { openSqliteStore } from '../src/store/sqlite/sqlite-store.ts';
import { createGate } from '../src/tools/approvals/gate.ts';
import { fakeToolContext } from '../src/tools/fake-tool-context.ts';
import { readMemories } from '../src/tools/memory/memory-files.ts';
import { memoryOwnerOf } from '../src/tools/memory/memory-places.ts';
import { memorySection } from '../src/tools/memory/memory-section.ts';
import { createOwnerMemoryTool } from '../src/tools/memory/owner-memory-tool.ts';
import { createSessionSearchTool } from '../src/tools/search/session-search-tool.ts';

interface Chat {
  readonly id: SessionId;
  readonly name: string;
  readonly key: string;
  readonly owner: string;
  readonly secret: string;
  /** Whose secrets may come up here. */
  readonly place: string;
  readonly user: string;
  readonly isPrivate: boolean;
}

const users = 50;
const clock = new FakeClock();

async function open(t: test.TestContext) {
  const home = await mkdtemp(join(tmpdir(), 'talaria-isolation-'));
  const ids = countingIdSource();
  const options = { path: ':memory:', clock, owner: ids.next('nod'), log: silentLog, writer: 'inline' } as const;
  const store = await openSqliteStore(options);
  t.after(async () => {
    await store.close();
    await rm(home, { recursive: true });
  });
  const search = createSessionSearchTool({ ...store.read, search: store.search });
  const memory = createOwnerMemoryTool({
    home,
    ownerOf: async (id) => {
      const session = await store.read.session(id);
      return session === null ? null : memoryOwnerOf(session);
    },
    gate: createGate({
      grants: { isGranted: () => Promise.resolve(false), add: () => Promise.resolve() },
      mode: () => 'ask',
      timeoutMs: () => 1_000,
      unattended: () => 'deny',
      clock,
    }),
    asksAlways: () => false,
  });
  const ask = async (tool: typeof search | typeof memory, chat: Chat, input: Record<string, unknown>) => {
    const parsed = tool.parse(input);
    assert.ok(parsed.ok, JSON.stringify(parsed));
    const outcome = await tool.run(parsed.value as never, { ...fakeToolContext(home), sessionId: chat.id });
    return 'text' in outcome ? outcome.text : '';
  };
  return { home, ids, store, search, memory, ask };
}

type World = Awaited<ReturnType<typeof open>>;

async function say({ store, ids }: World, user: string, place: Place, groupsAreShared: boolean): Promise<Chat> {
  const whereabouts = { channel: 'telegram', place, sender: { id: user } };
  const [key, owner] = [sessionKeyOf(whereabouts, groupsAreShared), ownerOf(whereabouts, groupsAreShared)];
  const existing = await store.read.sessionByKey(key);
  const name = existing?.name ?? `chat ${key.replaceAll(':', ' ')}`;
  const chat = new FakeConversation(store, ids, name);
  const id = existing?.id ?? chat.sessionId;
  const secret = `zebra${user}x${place.kind}${place.chat}x${place.thread ?? ''}end`.replaceAll(/[^a-z0-9]/g, '');
  const session = { kind: 'by-key', key, id, name, owner } as const;
  await chat.say(`the secret word is ${secret}`, { session });
  const lease = await store.acquireLease(id, ids.next('nod'), 1_000);
  assert.ok(lease !== null);
  const waiting = (await store.read.journal(id, 0))?.waiting ?? [];
  const turnId = ids.next('trn');
  await store.commit(lease, [{ verb: 'open-turn', turnId, promote: waiting.map((message) => message.id) }]);
  await store.commit(lease, [{ verb: 'close-turn', turnId, outcome: 'stopped', reply: null }]);
  await store.releaseLease(lease);
  const isPrivate = place.kind === 'direct';
  return { id, name, key, owner, secret, user, isPrivate, place: isPrivate ? `direct ${user}` : place.chat };
}

/** What may come up in a chat: in private, all of one's own; elsewhere what is of the same place and the same owner. */
function mayComeUp(here: Chat, there: Chat): boolean {
  return here.owner === there.owner && (here.isPrivate || here.place === there.place);
}

test('no search and no memory crosses from one of fifty people or ten groups to another', async (t) => {
  const world = await open(t);
  const { home, search, memory, ask } = world;
  const chats: Chat[] = [];
  for (let number = 0; number < users; number++) {
    const user = `u${number}`;
    const group = `g${number % 10}`;
    const isShared = number % 2 === 0;
    chats.push(await say(world, user, { kind: 'direct', chat: user }, isShared));
    chats.push(await say(world, user, { kind: 'group', chat: group }, isShared));
    if (number % 5 === 0) chats.push(await say(world, user, { kind: 'group', chat: group, thread: 't' }, isShared));
  }
  for (const chat of chats) {
    assert.match(await ask(memory, chat, { action: 'add', text: `remember ${chat.secret}` }), /^(Stored|Already)/);
  }

  const secretsIn = (text: string) => chats.filter(({ secret }) => text.replaceAll(/[‹›]/g, '').includes(secret));
  for (const [at, here] of chats.entries()) {
    const others = [1, 2, 3, 7, 20].map((step) => chats[(at + step) % chats.length] ?? here);
    const attacks: Record<string, unknown>[] = [
      { query: 'zebra', limit: 30 },
      { query: 'ebra' },
      { query: 'z' },
      { query: 'secret word', limit: 30 },
      { query: '', after: '1970-01-02', limit: 30 },
      { query: '" OR 1=1 --' },
      { query: '@1' },
      ...others.flatMap((other) => [
        { query: other.secret },
        { query: other.secret.slice(2, -2) },
        { session: other.name, around: 1 },
        { session: other.id, around: 2 },
      ]),
    ];
    for (const attack of attacks) {
      for (const found of secretsIn(await ask(search, here, attack))) {
        assert.ok(mayComeUp(here, found), `${here.key} found what is of ${found.key} by ${JSON.stringify(attack)}`);
      }
    }
    const remembered = [
      await ask(memory, here, { action: 'search', text: '' }),
      await ask(memory, here, { action: 'search', text: 'zebra' }),
      ...(await Promise.all(
        others
          .filter(({ place }) => place !== here.place)
          .map((other) => ask(memory, here, { action: 'remove', old: other.secret })),
      )),
      memorySection(await readMemories(home, memoryOwnerOf(here))),
    ].join('\n');
    for (const found of secretsIn(remembered)) {
      assert.equal(found.place, here.place, `${here.key} remembers what is of ${found.key}`);
    }
    // And one's own is found.
    assert.ok(secretsIn(await ask(search, here, { query: here.secret })).includes(here), here.key);
    assert.ok(secretsIn(await ask(memory, here, { action: 'search', text: here.secret })).includes(here), here.key);
  }
});
