/** The simulation's store and SQLite are the same store: the same verbs have the same outcomes and leave the same data. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { FakeClock } from '../../src/lib/fake-clock.ts';
import { countingIdSource } from '../../src/lib/ids.ts';
import { silentLog } from '../../src/lib/log.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import { StoreError, type Store } from '../../src/store/store.ts';
import { Dice } from './dice.ts';
import { MemoryData } from './memory-data.ts';
import { openMemoryStore } from './memory-store.ts';
import { RandomVerbs, type Deed } from './random-verbs.ts';

const seeds = 40;
const verbsPerSeed = 250;
const looksEvery = 25;
const monthMs = 30 * 24 * 60 * 60 * 1000;

/** The texts of conflicts are for people, and each store has its own. */
async function outcomeOf(store: Store, deed: Deed): Promise<unknown> {
  try {
    return await deed.perform(store);
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    return { reason: error.reason, message: error.reason === 'over-budget' ? error.message : '' };
  }
}

/** Why not, or how, in one word. */
function wayOf(outcome: unknown): string {
  if (typeof outcome !== 'object' || outcome === null) return 'done';
  const { reason, kind } = outcome as { readonly reason?: string; readonly kind?: string };
  return reason ?? kind ?? 'done';
}

async function everythingIn({ read, search }: Store, verbs: RandomVerbs, now: number): Promise<unknown> {
  return {
    sessions: await Promise.all(
      verbs.sessions.map(async (id) => ({
        journal: await read.journal(id, 0),
        modelCalls: await read.modelCalls(id),
        ofTurn: await read.modelCalls(id, verbs.turns.at(-1)),
        holds: await Promise.all(['x', 'y', 'z'].map((sha256) => read.holdsContent(id, sha256))),
        isGranted: await Promise.all(['ada', 'bob'].map((subject) => read.isGranted(id, 'command', subject))),
        trails: [await read.promptTrail(id, 'one'), await read.promptTrail(id, 'two')],
      })),
    ),
    inbox: await Promise.all(verbs.inbox.map(async (id) => [await read.inbox(id), await read.turnOfInbox(id)])),
    byKey: await Promise.all(['a', 'b', 'elsewhere'].map((key) => read.sessionByKey(key))),
    byOwner: await Promise.all(['owner', 'telegram:7'].map((owner) => read.sessions({ limit: 50, owner }))),
    found: (await search('message', 500, { owner: 'telegram:7' })).map((hit) => `${hit.sessionId} ${hit.seq}`).sort(),
    drafts: [await read.drafts('web'), await read.drafts('telegram')],
    answered: await Promise.all(['1', '2', '3', '4', '5'].map((id) => read.wasAnswered('web', id))),
    people: await read.people(),
    pairings: await read.pairings(now),
    refusals: await read.refusals(10),
    apiKeys: await read.apiKeys(),
    grants: await read.grants(),
    work: await read.sessionsWithWork(50),
    totals: await read.totals(),
    sums: await read.usageSums(''),
    rests: await read.keyRests(10),
    contents: await Promise.all(['x', 'y', 'z'].map((sha256) => read.content(sha256))),
  };
}

void it(`any ${verbsPerSeed} verbs do to one store what they do to the other, in ${seeds} seeds`, async () => {
  const reasons = new Map<string, number>();
  for (let seed = 1; seed <= seeds; seed++) {
    const clock = new FakeClock();
    const owner = countingIdSource().next('nod');
    const memory = openMemoryStore({ data: new MemoryData(), clock });
    const sqlite = await openSqliteStore({ path: ':memory:', clock, owner, log: silentLog, writer: 'inline' });
    const dice = new Dice(seed, 9);
    const verbs = new RandomVerbs(dice);
    const names: string[] = [];
    for (let index = 0; index < verbsPerSeed; index++) {
      if (dice.chance(0.2)) await clock.advance(dice.between(1, 400));
      // What is forgotten by age.
      if (dice.chance(0.005)) await clock.advance(monthMs);
      const deed = await verbs.next(sqlite, clock.now());
      names.push(deed.name);
      const outcome = await outcomeOf(sqlite, deed);
      assert.deepEqual(await outcomeOf(memory, deed), outcome, `seed ${seed}: ${names.join('\n')}`);
      const reason = wayOf(outcome);
      reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
      if (index % looksEvery !== 0 && index !== verbsPerSeed - 1) continue;
      const expected = await everythingIn(sqlite, verbs, clock.now());
      assert.deepEqual(await everythingIn(memory, verbs, clock.now()), expected, `seed ${seed}: ${names.join('\n')}`);
    }
    const problems = (await sqlite.checkIntegrity()).filter((problem) => !/^content \w has changed/.test(problem));
    assert.deepEqual(problems, [], `seed ${seed}`);
    await sqlite.close();
  }
  const ways = ['done', 'conflict', 'over-budget', 'lease-lost', 'queue-full', 'no-such-session', 'duplicate'];
  for (const reason of [...ways, 'requested', 'pending', 'full', 'approved', 'wrong', 'locked']) {
    assert.ok((reasons.get(reason) ?? 0) >= 10, `${reason} came too rarely: ${JSON.stringify([...reasons])}`);
  }
});
