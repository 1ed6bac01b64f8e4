/**
 * The real gateway on Telegram, killed over and over: people write alone and in a group, press buttons and give commands,
 * and the scripted platform, which survives, is asked what stands in its chats in the end.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isClean } from './chaos/judge.ts';
import { runChaos } from './chaos/run-chaos.ts';

const kills = 50;
const seed = 11;

test(`C87 C88 C89 C90 on Telegram, killed ${kills} times: every update answered once and in order, no draft left`, async (t) => {
  const report = await runChaos({ kills, seed, worlds: 3, channel: 'telegram' });
  const { verdict } = report;
  t.diagnostic(`${report.cases} cases, ${verdict.acknowledged} messages, ${verdict.commandsAnswered} commands`);
  assert.ok(isClean(verdict), `seed ${seed}:\n${verdict.problems.join('\n')}\n\n${report.lastWords}`);
  assert.ok(report.kills >= kills, `only ${report.kills} kills`);
  // How much happens between two kills is up to the machine.
  assert.ok(verdict.answered >= kills / 4, `only ${verdict.answered} messages were answered`);
  assert.ok(verdict.commandsAnswered > 0, 'no command was answered');
});
