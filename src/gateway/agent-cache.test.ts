import assert from 'node:assert/strict';
import test from 'node:test';
import { RuntimeChain } from '../agent/runtime-chain.ts';
import { RuntimeClients } from '../agent/runtime-clients.ts';
import type { Agent } from '../agent/turn-deps.ts';
import { countingIdSource } from '../lib/ids.ts';
import { createScriptedModel, scriptedRuntime, type ScriptedModel } from '../models/scripted-model.ts';
import { AgentCache } from './agent-cache.ts';

const runtime = scriptedRuntime();

/** Agents with a client that is open, so that it can be seen to be closed. */
function world(cap: number) {
  const ids = countingIdSource();
  const cache = new AgentCache(() => cap);
  const models = new Map<Agent, ScriptedModel>();
  const build = (): Agent => {
    const model = createScriptedModel({ responses: [] });
    const clients = new RuntimeClients(async () => model);
    void clients.get(runtime);
    const agent: Agent = {
      chain: new RuntimeChain([runtime], clients),
      clients,
      titler: null,
      tools: { get: () => undefined },
      buildHead: async () => ({ systemPrompt: '', tools: [] }),
      workspace: '/nowhere',
      spoolFolder: () => '/nowhere',
      keepResult: async () => '/nowhere',
    };
    models.set(agent, model);
    return agent;
  };
  const isClosed = async (agent: Agent) => {
    await new Promise((resolve) => setImmediate(resolve));
    return models.get(agent)?.closeCount === 1;
  };
  return { cache, build, isClosed, session: () => ids.next('ses') };
}

test('C20 the same session and signature give the very same agent', () => {
  const { cache, build, session } = world(2);
  const one = session();
  const first = cache.borrow(one, 'a', build);
  first.giveBack();
  const second = cache.borrow(one, 'a', build);
  assert.equal(second.agent, first.agent);
  second.giveBack();
  assert.deepEqual(cache.counts(), { size: 1, active: 0, hits: 1, misses: 1, evictions: 0 });
});

test('C21 another signature is a miss: a new agent, and the old one is released', async () => {
  const { cache, build, session, isClosed } = world(2);
  const one = session();
  const first = cache.borrow(one, 'a', build);
  first.giveBack();
  const second = cache.borrow(one, 'b', build);
  assert.notEqual(second.agent, first.agent);
  assert.deepEqual([await isClosed(first.agent), await isClosed(second.agent)], [true, false]);
});

test('past the cap the one that was not used for longest is released, and a used one never', async () => {
  const { cache, build, session, isClosed } = world(2);
  const [one, two, three] = [session(), session(), session()];
  const first = cache.borrow(one, 'a', build);
  const second = cache.borrow(two, 'a', build);
  second.giveBack();
  const third = cache.borrow(three, 'a', build);
  assert.equal(cache.counts().size, 3);
  assert.deepEqual([await isClosed(first.agent), await isClosed(second.agent)], [false, false]);
  first.giveBack();
  assert.deepEqual([await isClosed(first.agent), await isClosed(second.agent)], [true, false]);
  assert.deepEqual(cache.counts(), { size: 2, active: 1, hits: 0, misses: 3, evictions: 1 });
  third.giveBack();
});

test('closing releases every agent once, one in a turn when it is given back', async () => {
  const { cache, build, session, isClosed } = world(9);
  const idle = cache.borrow(session(), 'a', build);
  idle.giveBack();
  const busy = cache.borrow(session(), 'a', build);
  cache.close();
  assert.deepEqual([await isClosed(idle.agent), await isClosed(busy.agent)], [true, false]);
  busy.giveBack();
  busy.giveBack();
  cache.close();
  assert.equal(await isClosed(busy.agent), true);
});
