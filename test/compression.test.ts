/**
 * Long conversations: with every protocol against a server that turns down what a provider would, and as a whole program
 * with a small window. What was said before a shortening is known after it.
 */
import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { SessionEvent } from '../src/protocol/events.ts';
import type { ModelCallRecord } from '../src/protocol/usage.ts';
import { startModelServer } from './model-server/model-server.ts';
import { thinkingPlaces } from './model-server/thinking-places.ts';
import { openTurnStage, problemsOf, runtimeOf } from './model-server/turn-stage.ts';
import { ask, follow, isClosed, post, say, told } from './support/http.ts';
import { atEnd, freshHome, runTalaria, startGateway } from './support/talaria-process.ts';

const turns = [
  'run one then run two',
  'both run three and run four',
  'long 1500',
  'many 20 run five',
  'think about it',
  'run six then run seven then run eight',
  'long 1200',
  'say the last words',
];

for (const [name, place] of Object.entries(thinkingPlaces)) {
  test(`C93 C94 ${name}: a conversation that is shortened again and again is accepted every time`, async (t) => {
    const server = await startModelServer();
    t.after(() => server.close());
    const plain = place(server);
    const compressor = { provider: plain.provider, model: plain.model, contextLength: 8_000, thresholdTokens: 1_000 };
    const { stage, hear, close } = await openTurnStage(server, [{ ...plain, compressor }]);
    stage.settings = { ...stage.settings, effort: 'low', modelRetriesMax: 0 };
    const summariser = runtimeOf(server, 'chat_completions', { name: 'summariser' });
    if (stage.built !== null)
      stage.built = { ...stage.built, compression: { summariser, targetRatio: 0.2, protectLastN: 20 } };
    server.order({ reply: { text: '## Goal\nto try everything' }, model: 'summariser', times: 100 });
    try {
      for (const words of [...turns, ...turns]) await hear(words);
      const said = await stage.told();
      assert.deepEqual(problemsOf(server), []);
      assert.equal(said.filter((line) => line === 'closed: answered').length, 2 * turns.length, said.join('\n'));
      const calls = await stage.store.read.modelCalls(stage.sessionId);
      const reasons = new Set(
        calls.flatMap(({ purpose, prefixBreak }) => (purpose === 'compression' ? [] : [prefixBreak])),
      );
      reasons.delete('thought-missing');
      assert.deepEqual(reasons, new Set(['first-call', null, 'compressed']));
      assert.ok(calls.filter(({ purpose }) => purpose === 'compression').length >= 2);
      assert.deepEqual(await stage.store.checkIntegrity(), []);
    } finally {
      await close();
    }
  });
}

test('a long conversation in a small window goes on, knows what was said first, and survives a restart', async (t) => {
  const server = await startModelServer({ windowTokens: 12_000 });
  atEnd(t, () => server.close());
  const home = await freshHome(t);
  await mkdir(home, { mode: 0o700 });
  const address = { provider: 'custom', base_url: server.baseUrl('chat_completions'), api_key: 'key-number-one' };
  const config = {
    model: { ...address, name: 'scripted', context_length: 12_000, max_output_tokens: 1_000 },
    auxiliary: { compression: { ...address, name: 'summariser', context_length: 12_000 } },
    compression: { threshold: 0.5 },
  };
  await writeFile(join(home, 'config.yaml'), JSON.stringify(config));
  server.order({ reply: { text: '## Exact values\nthe cat is called Figaro' }, model: 'summariser', times: 50 });
  let gateway = await startGateway(t, { home });
  let count = 0;
  const turn = async (words: string) => {
    count += 1;
    await say(gateway.url, 'x', words, `m${count}`);
    let closed = 0;
    return told(await follow(gateway.url, 'x', (event) => isClosed(event) && ++closed === count));
  };
  await turn('say that my cat is called Figaro');
  for (let index = 0; index < 12; index += 1) await turn('long 2000');
  await gateway.stop();
  gateway = await startGateway(t, { home });
  for (let index = 0; index < 12; index += 1) await turn('long 2000');
  const log = await turn('say goodbye');
  assert.deepEqual(log.slice(-2), ['assistant: goodbye', 'closed: answered']);
  assert.equal(log.filter((line) => line === 'closed: answered').length, count);

  const asked = server.requests();
  assert.deepEqual(
    asked.flatMap(({ problem }) => (problem === null ? [] : [problem])),
    [],
  );
  const summaries = asked.filter(({ model }) => model === 'summariser');
  assert.ok(summaries.length >= 2);
  assert.match(summaries[0]?.raw ?? '', /Figaro/);
  const last = asked.findLast(({ model }) => model === 'scripted')?.raw ?? '';
  assert.match(last, /told shortly[^]*the cat is called Figaro/);
  assert.ok(!last.includes('say that my cat'));
  const { calls } = JSON.parse((await ask(`${gateway.url}/api/sessions/x/model-calls`)).text) as {
    calls: ModelCallRecord[];
  };
  const breaks = calls.filter(({ purpose }) => purpose === 'answer').map(({ prefixBreak }) => prefixBreak);
  assert.deepEqual(new Set(breaks), new Set(['first-call', null, 'compressed']));
  assert.equal(breaks.filter((reason) => reason === 'compressed').length, summaries.length);
  const shown = await runTalaria(t, ['sessions', 'show', 'x'], { home });
  assert.match(shown.stdout, /say that my cat is called Figaro/);
  await post(`${gateway.url}/api/say`, { session: 'x', text: '/compress cats', externalId: 'c1' });
  // Whoever asked is told; what happens by itself is told in other words.
  const isTold = (event: SessionEvent) =>
    event.kind === 'entry' && event.entry.kind === 'notice' && event.entry.text.startsWith('What came before is told');
  await follow(gateway.url, 'x', isTold);
  const record = server.requests().findLast(({ model }) => model === 'summariser')?.raw ?? '';
  assert.match(record, /must be kept in full: cats/);
});
