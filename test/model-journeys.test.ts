/**
 * One conversation, several models: it moves from protocol to protocol in the middle of turns, with thoughts, calls and
 * mistakes in it. Every provider accepts what it is sent, and finds in its cache what it was sent before.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { summarise } from './model-server/cache-summary.ts';
import { startModelServer } from './model-server/model-server.ts';
import { thinkingPlaces as places } from './model-server/thinking-places.ts';
import { openTurnStage, problemsOf } from './model-server/turn-stage.ts';

const turns = [
  'run one then run two',
  'both run three and run four',
  'mistake',
  'many 30 run five',
  'think about it',
  'run six then run seven then run eight',
  'say the last words',
];

for (const from of Object.keys(places)) {
  for (const to of Object.keys(places)) {
    if (from === to) continue;
    test(`from ${from} to ${to} and back, in the middle of turns`, async (test) => {
      const server = await startModelServer();
      test.after(() => server.close());
      const primary = places[from]?.(server);
      const fallback = places[to]?.(server);
      assert.ok(primary && fallback);
      const { stage, hear, close } = await openTurnStage(server, [primary, fallback]);
      stage.settings = { ...stage.settings, effort: 'low', modelRetriesMax: 0 };
      try {
        for (const [index, words] of turns.entries()) {
          // Every second turn the primary fails once its first call has run, and is back for the next turn.
          if (index % 2 === 1 || index === 5) {
            server.inject({ name: 'status-529', phase: 'after-tool-call', model: primary.model });
          }
          await hear(words);
        }
        const told = await stage.told();
        assert.deepEqual(problemsOf(server), []);
        assert.equal(told.filter((line) => line === 'closed: answered').length, turns.length);
        assert.equal(
          told.findLast((line) => line.startsWith('assistant:')),
          'assistant: the last words',
        );
        for (const { model } of [primary, fallback]) {
          const { requests, cached, atBest, missed } = summarise(
            server.requests().filter((one) => one.model === model),
          );
          assert.ok(requests > 2, `${model} was asked ${requests} times`);
          assert.deepEqual({ model, missed, cached }, { model, missed: [], cached: atBest });
        }
      } finally {
        await close();
      }
    });
  }
}
