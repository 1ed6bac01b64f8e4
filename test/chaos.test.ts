/**
 * The real gateway, killed at every named point and at random times, and judged from outside: by the ledger of effects,
 * the chat platform and the model server, which are processes of their own and survive.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isClean } from './chaos/judge.ts';
import { runChaos } from './chaos/run-chaos.ts';

const kills = 120;
const seed = 3;

test(`C87 C88 C89 C90 C93 killed ${kills} times: everything answered once, no effect repeated, every transcript valid`, async (t) => {
  const report = await runChaos({ kills, seed, worlds: 3 });
  const { verdict } = report;
  t.diagnostic(
    `${report.cases} cases, ${verdict.acknowledged} messages, ${verdict.effects} effects, ${verdict.modelRequests} requests to the model`,
  );
  assert.ok(isClean(verdict), `seed ${seed}:\n${verdict.problems.join('\n')}\n\n${report.lastWords}`);
  assert.ok(report.kills >= kills, `only ${report.kills} kills`);
  // Each point is aimed at, but what comes first is up to the machine; so is how much happens between two kills.
  const something = kills / 3;
  assert.ok(verdict.answered >= something, `only ${verdict.answered} messages were answered`);
  assert.ok(verdict.effects >= something, `only ${verdict.effects} effects happened`);
  assert.ok(verdict.modelRequests >= something, `only ${verdict.modelRequests} requests came to the model server`);
  const missed = report.points.filter(({ name }) => !report.hits.has(name)).map(({ name }) => name);
  assert.ok(missed.length <= report.points.length / 2, `the gateway did not die at ${missed.join(', ')}`);
});
