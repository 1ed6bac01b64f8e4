/** Turns run by cached agents: what changes from turn to turn needs no other agent, and what was sent stays as it was. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { callsTools, createGate, says, scriptedRuntime } from '../models/scripted-model.ts';
import type { SessionEvent } from '../protocol/events.ts';
import type { Tool } from '../tools/tool.ts';
import { CachedSessions } from './test-cached-sessions.ts';

const look: Tool = {
  definition: { name: 'look', description: 'Looks.', parameters: {} },
  effect: 'read',
  replay: 'safe',
  parse: (value) => ({ ok: true, value }),
  run: async (_input, { onOutput }) => {
    onOutput('looking');
    return { kind: 'finished', text: 'seen' };
  },
};

const kindsOfATurn: SessionEvent['kind'][] = [
  'turn-started',
  'text-delta',
  'status',
  'draft-cleared',
  'call-started',
  'call-output',
  'call-ended',
  'turn-ended',
];

test('C24 reasoning settings reach the cached agent turn by turn; it is not rebuilt and its system prompt is the same', async () => {
  const sessions = await CachedSessions.open({
    runtimes: [scriptedRuntime({ reasons: true, quirks: ['reasoning-effort'] })],
  });
  const sessionId = sessions.newSession();
  const agents = new Set();
  for (const effort of [null, 'high', 'high', 'low'] as const) {
    sessions.script = [says('ok')];
    await sessions.hears(sessionId, `think ${effort}`);
    for (const agent of await sessions.run(sessionId, { effort })) agents.add(agent);
  }
  const sent = sessions.bodies.map((body) => JSON.parse(body) as { reasoning_effort?: string; messages: object[] });
  assert.deepEqual(
    sent.map((body) => body.reasoning_effort),
    [undefined, 'high', 'high', 'low'],
  );
  assert.deepEqual(
    sent.map(({ messages }) => messages[0]),
    Array.from({ length: 4 }, () => ({ role: 'system', content: 'Prompt number 1.' })),
  );
  assert.deepEqual([agents.size, sessions.models.length, sessions.heads], [1, 1, 1]);
  const { hits, misses } = sessions.cache.counts();
  assert.deepEqual({ hits, misses }, { hits: 3, misses: 1 });
  await sessions.close();
});

test('C25 the system prompt of turn 1 is sent on every later turn, by the cached agent and by one built anew', async () => {
  const sessions = await CachedSessions.open({ tools: [look] });
  const sessionId = sessions.newSession();
  const agents = new Set();
  for (const text of ['one', 'two', 'three', 'four']) {
    if (text === 'three') sessions.cache.drop(sessionId);
    sessions.script = [callsTools({ name: 'look', arguments: {} }), says('ok')];
    await sessions.hears(sessionId, text);
    for (const agent of await sessions.run(sessionId)) agents.add(agent);
  }
  const prompts = sessions.requests.map(({ systemPrompt }) => systemPrompt);
  assert.deepEqual(prompts, Array(8).fill('Prompt number 1.'));
  assert.deepEqual([agents.size, sessions.heads], [2, 1]);
  // Each request begins with all of the one before it.
  const wire = sessions.bodies.map((body) => (JSON.parse(body) as { messages: unknown[] }).messages);
  for (const [index, messages] of wire.slice(1).entries()) {
    const before = wire[index] ?? [];
    assert.equal(JSON.stringify(messages.slice(0, before.length)), JSON.stringify(before));
  }
  await sessions.close();
});

test('C26 whoever watches a turn sees all of it and nothing of another one, though the agent is the same', async () => {
  const sessions = await CachedSessions.open({ tools: [look] });
  const sessionId = sessions.newSession();
  const watch = async (text: string) => {
    const seen: SessionEvent[] = [];
    sessions.script = [
      [...says(`hearing ${text}`), ...callsTools({ name: 'look', arguments: {} })],
      says(`said ${text}`),
    ];
    await sessions.hears(sessionId, text);
    const [agent] = await sessions.run(sessionId, { publish: (event) => void seen.push(event) });
    return { agent, seen };
  };
  const first = await watch('one');
  const shownThen = [...first.seen];
  const second = await watch('two');
  assert.equal(second.agent, first.agent);
  assert.deepEqual(first.seen, shownThen, 'the first watcher is shown nothing of the second turn');
  for (const [{ seen }, own, other] of [
    [first, 'one', 'two'],
    [second, 'two', 'one'],
  ] as const) {
    const live = seen.filter((event) => event.kind !== 'entry');
    assert.deepEqual(new Set(live.map(({ kind }) => kind)), new Set(kindsOfATurn));
    assert.match(JSON.stringify(live), new RegExp(`said ${own}`));
    assert.doesNotMatch(JSON.stringify(live), new RegExp(`said ${other}`));
  }
  await sessions.close();
});

test('C26 C39 an agent whose session is reset mid-turn goes on to show and to answer', async () => {
  const sessions = await CachedSessions.open();
  const sessionId = sessions.newSession();
  const gate = createGate();
  const seen: SessionEvent[] = [];
  const { promise: asked, resolve } = Promise.withResolvers<void>();
  sessions.script = [[{ kind: 'text-delta', text: 'half ' }, gate, { kind: 'text-delta', text: 'whole' }]];
  await sessions.hears(sessionId, 'one');
  const publish = (event: SessionEvent) => {
    seen.push(event);
    if (event.kind === 'text-delta') resolve();
  };
  const running = sessions.run(sessionId, { publish });
  await asked;
  sessions.cache.drop(sessionId);
  gate.open();
  await running;
  assert.match(JSON.stringify(seen), /"text":"half whole"/);
  assert.deepEqual(
    (await sessions.store.read.entries(sessionId, { after: 0, limit: 99 })).flatMap((entry) =>
      entry.kind === 'turn-closed' ? [entry.outcome] : [],
    ),
    ['answered'],
  );
  await new Promise((next) => setImmediate(next));
  assert.deepEqual(
    sessions.models.map(({ closeCount }) => closeCount),
    [1],
  );
  await sessions.close();
});
