import assert from 'node:assert/strict';
import test from 'node:test';
import { RuntimeChain } from '../agent/runtime-chain.ts';
import { RuntimeClients } from '../agent/runtime-clients.ts';
import type { Agent } from '../agent/turn-deps.ts';
import { FakeClock } from '../lib/fake-clock.ts';
import { countingIdSource } from '../lib/ids.ts';
import { createLog } from '../lib/log.ts';
import { seededRandom } from '../lib/random.ts';
import { createRedactor } from '../lib/redact.ts';
import type { ModelEvent, ModelRequest } from '../models/model.ts';
import {
  createScriptedModel,
  says,
  scriptedRuntime,
  testKey,
  testRequest,
  type ScriptedModel,
} from '../models/scripted-model.ts';
import type { SessionId } from '../protocol/ids.ts';
import { AgentCache, type LentAgent } from './agent-cache.ts';

const runtime = scriptedRuntime();
const ttlMs = 3_600_000;

interface WorldOptions {
  cap?: number;
  /** An agent is built once this has come. */
  built?: () => Promise<void>;
  /** A client is open once this has come. */
  opened?: () => Promise<void>;
}

/** The real cache, and agents whose clients can be seen to be opened and closed. */
function world({ cap = 128, built, opened }: WorldOptions = {}) {
  const ids = countingIdSource();
  const clock = new FakeClock();
  const lines: string[] = [];
  const log = createLog({
    clock,
    redactor: createRedactor(),
    level: 'warn',
    writeLine: (line) => lines.push((JSON.parse(line) as { message: string }).message),
  });
  const limits = { cap, ttlMs, isMemoryShort: false };
  const cache = new AgentCache({
    cap: () => limits.cap,
    idleTtlMs: () => limits.ttlMs,
    isMemoryShort: () => limits.isMemoryShort,
    clock,
    log,
  });
  const models = new Map<Agent, ScriptedModel[]>();
  const build = async (): Promise<Agent> => {
    const own: ScriptedModel[] = [];
    const clients = new RuntimeClients(async () => {
      await opened?.();
      const model = createScriptedModel({ responses: Array.from({ length: 9 }, () => says('hello')) });
      own.push(model);
      return model;
    });
    const agent: Agent = {
      chain: new RuntimeChain([runtime], clients),
      clients,
      titler: null,
      judge: null,
      tools: { get: () => undefined },
      headTools: { tools: [] },
      buildHead: async () => ({ systemPrompt: '', tools: [] }),
      workspace: '/nowhere',
      spoolFolder: () => '/nowhere',
      keepResult: async () => '/nowhere',
    };
    models.set(agent, own);
    await built?.();
    return agent;
  };
  /** Its client is open, or about to be, so that it can be seen to be closed. */
  const borrow = async (sessionId: SessionId, signature = 'a'): Promise<LentAgent> => {
    const lent = await cache.borrow(sessionId, signature, build);
    void lent.agent.clients.get(runtime);
    return lent;
  };
  /** As a turn does: the client is opened, asked, and still open. */
  const answer = async ({ agent }: LentAgent): Promise<string> => {
    const model = await agent.clients.get(runtime);
    const events: ModelEvent[] = [];
    const request: ModelRequest = testRequest();
    for await (const event of model.stream(model.prepare(request), testKey, new AbortController().signal)) {
      events.push(event);
    }
    return events.map((event) => (event.kind === 'text-delta' ? event.text : event.kind)).join(' ');
  };
  /** Borrows, answers, gives back. */
  const turn = async (sessionId: SessionId, signature = 'a'): Promise<Agent> => {
    const lent = await borrow(sessionId, signature);
    assert.equal(await answer(lent), 'hello end');
    lent.giveBack();
    return lent.agent;
  };
  /** How often the clients of this agent were closed: 0 or 1, or it is a bug. */
  const closes = async (...agents: Agent[]): Promise<number[]> => {
    await new Promise((resolve) => setImmediate(resolve));
    return agents.map((agent) => (models.get(agent) ?? []).reduce((sum, model) => sum + model.closeCount, 0));
  };
  const sessions = (count: number) => Array.from({ length: count }, () => ids.next('ses'));
  const { size, active } = { size: () => cache.counts().size, active: () => cache.counts().active };
  return { cache, clock, limits, lines, borrow, answer, turn, closes, sessions, size, active };
}

/** Opens when it is told to. */
function gate(): { pass: () => Promise<void>; open: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { pass: () => promise, open: resolve };
}

const nothingYet = { hits: 0, misses: 0, evictions: 0, sweeps: 0, releases: 0 };

// --- the life of a cached agent ------------------------------------------------------------------------------------

test('C20 the same session and signature give the very same agent', async () => {
  const { cache, turn, closes, sessions } = world();
  const [one] = sessions(1) as [SessionId];
  const first = await turn(one);
  const second = await turn(one);
  assert.equal(second, first);
  assert.deepEqual(await closes(first), [0]);
  assert.deepEqual(cache.counts(), { ...nothingYet, size: 1, active: 0, hits: 1, misses: 1 });
});

test('C21 another signature is a miss: a new agent, and the old one is released', async () => {
  const { cache, turn, closes, sessions } = world();
  const [one] = sessions(1) as [SessionId];
  const first = await turn(one, 'a');
  const second = await turn(one, 'b');
  assert.notEqual(second, first);
  assert.deepEqual(await closes(first, second), [1, 0]);
  assert.deepEqual(cache.counts(), { ...nothingYet, size: 1, active: 0, misses: 2, releases: 1 });
});

test('C22 C23 a session that is reset loses its agent, and no other session does', async () => {
  const { cache, turn, closes, sessions } = world();
  const [one, two, none] = sessions(3) as [SessionId, SessionId, SessionId];
  const first = await turn(one);
  const second = await turn(two);
  cache.drop(one);
  cache.drop(one);
  cache.drop(none);
  assert.deepEqual(await closes(first, second), [1, 0]);
  assert.deepEqual(cache.counts(), { ...nothingYet, size: 1, active: 0, misses: 2, releases: 1 });
  assert.notEqual(await turn(one), first);
  assert.equal(await turn(two), second);
});

test('C22 a session that is reset mid-turn, or while its agent is built, is not found again; the turn goes on', async () => {
  const building = gate();
  const { cache, borrow, turn, answer, closes, sessions, size } = world({ built: building.pass });
  const [one] = sessions(1) as [SessionId];
  const early = borrow(one);
  cache.drop(one);
  building.open();
  const lent = await early;
  assert.equal(size(), 0);
  const next = await turn(one);
  assert.notEqual(next, lent.agent);
  assert.equal(await answer(lent), 'hello end');
  assert.deepEqual(await closes(lent.agent, next), [0, 0]);
  lent.giveBack();
  assert.deepEqual(await closes(lent.agent, next), [1, 0]);
  assert.equal(size(), 1);
});

// --- bounded growth ------------------------------------------------------------------------------------------------

test('C27 past the cap the least recently used one goes, and exactly as many as the cap stay', async () => {
  const { cache, turn, closes, sessions } = world({ cap: 3 });
  const agents: Agent[] = [];
  for (const session of sessions(5)) agents.push(await turn(session));
  assert.deepEqual(await closes(...agents), [1, 1, 0, 0, 0]);
  assert.deepEqual(cache.counts(), { ...nothingYet, size: 3, active: 0, misses: 5, evictions: 2, releases: 2 });
});

test('C28 C33 one that was used again is the newest and survives', async () => {
  const { turn, closes, sessions } = world({ cap: 2 });
  const [one, two, three] = sessions(3) as [SessionId, SessionId, SessionId];
  const first = await turn(one);
  const second = await turn(two);
  assert.equal(await turn(one), first);
  const third = await turn(three);
  assert.deepEqual(await closes(first, second, third), [0, 1, 0]);
});

test('C29 the one that is evicted is released, once, and the newcomer is not touched', async () => {
  const { turn, borrow, answer, closes, sessions } = world({ cap: 1 });
  const [one, two] = sessions(2) as [SessionId, SessionId];
  const first = await turn(one);
  const second = await borrow(two);
  assert.deepEqual(await closes(first, second.agent), [1, 0]);
  assert.equal(await answer(second), 'hello end');
  second.giveBack();
  assert.deepEqual(await closes(first, second.agent), [1, 0]);
});

test('C30 the sweep takes what was idle for longer than the limit, keeps what is fresh, and says how many', async () => {
  const { cache, clock, turn, closes, sessions } = world();
  const [one, two, three] = sessions(3) as [SessionId, SessionId, SessionId];
  // The sweeps of the cache itself are not what this is about: they find nothing at these times.
  const first = await turn(one);
  const second = await turn(two);
  await clock.advance(1);
  const third = await turn(three);
  await clock.advance(ttlMs - 1);
  assert.equal(cache.sweep(), 0, 'exactly the limit is not longer than the limit');
  await clock.advance(1);
  assert.equal(cache.sweep(), 2);
  assert.deepEqual(await closes(first, second, third), [1, 1, 0]);
  assert.equal(cache.sweep(), 0);
  assert.deepEqual(cache.counts(), { ...nothingYet, size: 1, active: 0, misses: 3, sweeps: 2, releases: 2 });
});

test('C30 it is swept without being asked, by one timer that there is only while there are agents', async () => {
  const { cache, clock, limits, turn, closes, sessions } = world();
  limits.ttlMs = 10_000;
  assert.equal(clock.pendingTimers, 0);
  const agents: Agent[] = [];
  for (const session of sessions(3)) agents.push(await turn(session));
  assert.equal(clock.pendingTimers, 1);
  await clock.advance(10_000);
  assert.equal(cache.counts().size, 3);
  await clock.advance(60_000);
  assert.deepEqual(await closes(...agents), [1, 1, 1]);
  assert.deepEqual([cache.counts().sweeps, clock.pendingTimers], [3, 0]);
});

test('C30 a turn makes an agent young again', async () => {
  const { cache, clock, turn, sessions, size } = world();
  const [one] = sessions(1) as [SessionId];
  await turn(one);
  await clock.advance(ttlMs);
  await turn(one);
  await clock.advance(ttlMs);
  assert.deepEqual([cache.sweep(), size()], [0, 1]);
});

test('C31 an agent of which it is not known when it was active is never swept', async () => {
  const { cache, clock, borrow, turn, closes, sessions } = world();
  const [one, two] = sessions(2) as [SessionId, SessionId];
  const unknown = await borrow(one);
  unknown.giveBack(null);
  const known = await turn(two);
  await clock.advance(100 * ttlMs);
  assert.equal(cache.sweep(), 0, 'the cache itself has swept the other one');
  assert.deepEqual(await closes(unknown.agent, known), [0, 1]);
  assert.deepEqual([cache.counts().size, cache.counts().sweeps], [1, 1]);
});

test('C31 a run that did nothing makes an agent neither younger nor older', async () => {
  const { cache, clock, borrow, turn, sessions } = world();
  const [one, two] = sessions(2) as [SessionId, SessionId];
  await turn(one);
  await clock.advance(ttlMs / 2);
  (await borrow(one)).giveBack(null);
  (await borrow(two)).giveBack(clock.now() - ttlMs / 2);
  await clock.advance(ttlMs / 2);
  assert.deepEqual([cache.sweep(), cache.counts().size], [0, 2]);
  await clock.advance(1);
  assert.deepEqual([cache.sweep(), cache.counts().size], [2, 0]);
});

test('C32 where memory is short idle agents go, the oldest first, and never one in a turn', async () => {
  const { cache, clock, limits, lines, borrow, answer, turn, closes, sessions } = world();
  const [busy, ...others] = sessions(6) as [SessionId, ...SessionId[]];
  const lent = await borrow(busy);
  const idle: Agent[] = [];
  for (const session of others) idle.push(await turn(session));
  assert.equal(cache.relieve(), 0, 'there is enough');
  limits.isMemoryShort = true;
  assert.equal(cache.relieve(), 3);
  assert.deepEqual(await closes(lent.agent, ...idle), [0, 1, 1, 1, 0, 0]);
  await clock.advance(60_000);
  await clock.advance(1_000);
  assert.deepEqual(await closes(lent.agent, ...idle), [0, 1, 1, 1, 1, 1]);
  assert.equal(await answer(lent), 'hello end');
  assert.equal(cache.relieve(), 0, 'there is nobody left to go');
  assert.deepEqual([...new Set(lines)], ['memory is short: idle agents released']);
  const { size, active, evictions, releases } = cache.counts();
  assert.deepEqual({ size, active, evictions, releases }, { size: 1, active: 1, evictions: 5, releases: 5 });
});

// --- a turn in progress is never disturbed -------------------------------------------------------------------------

test('C34 an active oldest entry is skipped and nothing else is evicted in its place', async () => {
  const { borrow, answer, turn, closes, sessions, size } = world({ cap: 2 });
  const [one, two, three] = sessions(3) as [SessionId, SessionId, SessionId];
  const oldest = await borrow(one);
  const second = await turn(two);
  const third = await turn(three);
  assert.equal(size(), 3);
  assert.equal(await answer(oldest), 'hello end');
  assert.deepEqual(await closes(oldest.agent, second, third), [0, 0, 0]);
});

test('C35 of the surplus only the idle ones go: cap 2, four entries, the oldest active, three stay', async () => {
  const { borrow, turn, closes, sessions, size, limits } = world({ cap: 4 });
  const [one, two, three, four] = sessions(4) as [SessionId, SessionId, SessionId, SessionId];
  const oldest = await borrow(one);
  const second = await turn(two);
  const third = await turn(three);
  limits.cap = 2;
  const fourth = await turn(four);
  assert.deepEqual(await closes(oldest.agent, second, third, fourth), [0, 1, 0, 0]);
  assert.equal(size(), 3);
});

test('C36 whenever there are too many after a pass, the log says mid-turn, and otherwise nothing', async () => {
  const { borrow, turn, sessions, lines, size } = world({ cap: 2 });
  const [one, two, three, four] = sessions(4) as [SessionId, SessionId, SessionId, SessionId];
  const oldest = await borrow(one);
  await turn(two);
  assert.deepEqual(lines, []);
  const third = await borrow(three);
  assert.equal(lines.length, 1);
  assert.match(lines[0] ?? '', /mid-turn/);
  third.giveBack();
  assert.equal(lines.length, 2, 'the pass at the end of a turn says so too');
  oldest.giveBack();
  assert.deepEqual([lines.length, size()], [2, 2]);
  await turn(four);
  assert.deepEqual([lines.length, size()], [2, 2]);
});

test('C37 a session whose agent is still being built does not count as active and keeps nobody from being evicted', async () => {
  const waits: (() => Promise<void>)[] = [];
  const { borrow, turn, closes, sessions, size, active, lines } = world({
    cap: 2,
    built: () => waits.shift()?.() ?? Promise.resolve(),
  });
  const [slow, one, two, three] = sessions(4) as [SessionId, SessionId, SessionId, SessionId];
  const building = gate();
  waits.push(building.pass);
  const waiting = borrow(slow);
  const first = await turn(one);
  const second = await turn(two);
  assert.deepEqual([size(), active()], [2, 0]);
  const third = await turn(three);
  assert.deepEqual([size(), active()], [2, 0]);
  assert.deepEqual(await closes(first, second, third), [1, 0, 0]);
  building.open();
  const built = await waiting;
  assert.deepEqual([size(), active()], [2, 1]);
  assert.deepEqual(await closes(second, third, built.agent), [1, 0, 0]);
  assert.deepEqual(lines, []);
});

test('C37 two who want the same agent while it is built get the same one; one that can not be built leaves nothing', async () => {
  const { cache, borrow, sessions, size } = world();
  const [one] = sessions(1) as [SessionId];
  await assert.rejects(
    cache.borrow(one, 'a', () => {
      throw new Error('no such toolset');
    }),
    /no such toolset/,
  );
  assert.deepEqual([size(), cache.counts().misses], [0, 1]);
  const [first, second] = await Promise.all([borrow(one), borrow(one)]);
  assert.equal(first.agent, second.agent);
  first.giveBack();
  assert.deepEqual([size(), cache.counts().active], [1, 1]);
});

test('C38 the sweep never takes an active agent, however long ago it was active', async () => {
  const { cache, clock, borrow, answer, turn, closes, sessions } = world();
  const [one] = sessions(1) as [SessionId];
  await turn(one);
  const lent = await borrow(one);
  await clock.advance(100 * ttlMs);
  assert.equal(cache.sweep(), 0);
  assert.equal(await answer(lent), 'hello end');
  assert.deepEqual(await closes(lent.agent), [0]);
});

test('C39 active is the agent, not its session: a rebuilt one is idle and may go while the old one is mid-turn', async () => {
  const { cache, clock, borrow, answer, turn, closes, sessions, size } = world({ cap: 1 });
  const [one, two] = sessions(2) as [SessionId, SessionId];
  const old = await borrow(one, 'a');
  const rebuilt = await turn(one, 'b');
  assert.notEqual(rebuilt, old.agent);
  const other = await turn(two);
  assert.deepEqual(await closes(old.agent, rebuilt, other), [0, 1, 0]);
  await clock.advance(2 * ttlMs);
  cache.sweep();
  assert.equal(await answer(old), 'hello end');
  assert.deepEqual(await closes(old.agent), [0]);
  old.giveBack();
  old.giveBack();
  assert.deepEqual([await closes(old.agent), size()], [[1], 0]);
});

test('C39 an agent that two turns use, with its place gone, is released when the second one ends', async () => {
  const { cache, borrow, answer, closes, sessions } = world();
  const [one] = sessions(1) as [SessionId];
  const [first, second] = [await borrow(one), await borrow(one)];
  cache.drop(one);
  first.giveBack();
  assert.equal(await answer(second), 'hello end');
  assert.deepEqual(await closes(second.agent), [0]);
  second.giveBack();
  assert.deepEqual([await closes(second.agent), cache.counts().releases], [[1], 1]);
});

test('C39 the cap is looked at again when a turn ends, not only at the next insert', async () => {
  const { borrow, turn, closes, sessions, size } = world({ cap: 2 });
  const [one, two, three] = sessions(3) as [SessionId, SessionId, SessionId];
  const oldest = await borrow(one);
  const second = await turn(two);
  const third = await turn(three);
  assert.equal(size(), 3);
  oldest.giveBack();
  assert.equal(size(), 2);
  assert.deepEqual(await closes(oldest.agent, second, third), [1, 0, 0]);
});

// --- spillover and concurrency -------------------------------------------------------------------------------------

test('C40 cap 8 filled, a ninth comes: the oldest is gone, the newcomer is there', async () => {
  const { cache, turn, closes, sessions } = world({ cap: 8 });
  const all = sessions(9);
  const agents: Agent[] = [];
  for (const session of all) agents.push(await turn(session));
  assert.deepEqual(await closes(...agents), [1, 0, 0, 0, 0, 0, 0, 0, 0]);
  assert.equal(cache.counts().size, 8);
  assert.equal(await turn(all[8] as SessionId), agents[8]);
});

test('C41 cap 4, all four active, a fifth comes: five, all usable, and the log says mid-turn', async () => {
  const { borrow, answer, turn, closes, sessions, size, lines } = world({ cap: 4 });
  const [fifth, ...four] = sessions(5) as [SessionId, ...SessionId[]];
  const lent: LentAgent[] = [];
  for (const session of four) lent.push(await borrow(session));
  const newcomer = await turn(fifth);
  assert.equal(size(), 5);
  for (const each of lent) assert.equal(await answer(each), 'hello end');
  assert.deepEqual(await closes(newcomer, ...lent.map(({ agent }) => agent)), [0, 0, 0, 0, 0]);
  assert.match(lines[0] ?? '', /mid-turn/);
});

test('C42 160 inserts at once into a cap of 16 settle at exactly 16, and each of the others is closed once', async () => {
  const random = seededRandom(42);
  const pause = async () => {
    for (let left = Math.floor(random.float() * 5); left > 0; left--) await new Promise((next) => setImmediate(next));
  };
  const { cache, borrow, answer, closes, sessions } = world({ cap: 16, built: pause, opened: pause });
  const agents = await Promise.all(
    sessions(160).map(async (session) => {
      await pause();
      const lent = await borrow(session);
      assert.equal(await answer(lent), 'hello end');
      await pause();
      lent.giveBack();
      return lent.agent;
    }),
  );
  assert.equal(new Set(agents).size, 160);
  const counts = { ...nothingYet, size: 16, active: 0, misses: 160, evictions: 144, releases: 144 };
  assert.deepEqual(cache.counts(), counts);
  const closed = await closes(...agents);
  assert.deepEqual(
    [closed.filter((times) => times === 1).length, closed.filter((times) => times === 0).length],
    [144, 16],
  );
});

test('C43 a spilled session comes back with a new agent that works, also if the old one is released after that', async () => {
  const opening = gate();
  const waits = [opening.pass];
  const { borrow, answer, turn, closes, sessions } = world({
    cap: 1,
    opened: () => waits.shift()?.() ?? Promise.resolve(),
  });
  const [one, two] = sessions(2) as [SessionId, SessionId];
  const old = await borrow(one);
  // Its client is still being opened when it is released: it is closed as soon as there is something to close.
  const asked = answer(old);
  old.giveBack();
  await turn(two);
  const back = await borrow(one);
  assert.notEqual(back.agent, old.agent);
  assert.equal(await answer(back), 'hello end');
  assert.deepEqual(await closes(old.agent, back.agent), [0, 0]);
  opening.open();
  await asked;
  assert.deepEqual(await closes(old.agent, back.agent), [1, 0]);
  assert.equal(await answer(back), 'hello end');
  back.giveBack();
  assert.equal(await turn(one), back.agent);
});

test('C43 the late end of an old turn takes nothing from the session that has a new agent', async () => {
  const { cache, borrow, turn, closes, sessions, size } = world();
  const [one] = sessions(1) as [SessionId];
  const old = await borrow(one);
  cache.drop(one);
  const back = await turn(one);
  old.giveBack();
  assert.deepEqual(await closes(old.agent, back), [1, 0]);
  assert.deepEqual([size(), await turn(one)], [1, back]);
});

// --- the end -------------------------------------------------------------------------------------------------------

test('closing releases every agent once, one in a turn when it is given back, and later ones are not kept', async () => {
  const { cache, clock, borrow, turn, closes, sessions } = world();
  const [one, two, three] = sessions(3) as [SessionId, SessionId, SessionId];
  const idle = await turn(one);
  const busy = await borrow(two);
  cache.close();
  assert.deepEqual(await closes(idle, busy.agent), [1, 0]);
  busy.giveBack();
  busy.giveBack();
  cache.close();
  const late = await turn(three);
  assert.deepEqual(await closes(idle, busy.agent, late), [1, 1, 1]);
  assert.deepEqual([cache.counts().size, cache.counts().releases, clock.pendingTimers], [0, 3, 0]);
});
