/** What the tests of shortening share: a stage with a small window, turns on it, and what its log says came of them. */
import assert from 'node:assert/strict';
import { ModelError, type ModelEvent, type ModelRequest, type Runtime } from '../models/model.ts';
import { scriptedRuntime } from '../models/scripted-model.ts';
import { textOf, type CompressedPrompt, type Entry } from '../protocol/messages.ts';
import { says, Stage } from './test-stage.ts';

export const compressor = { provider: 'scripted', model: 'script', contextLength: 10_000, thresholdTokens: 800 };
export const runtime = (more: Partial<Runtime> = {}) => scriptedRuntime({ compressor, ...more });
export const filler = 'lorem ipsum dolor sit amet '.repeat(20);
export const fails = (reason: 'context-overflow' | 'payload-too-large' | 'server'): ModelEvent[] => [
  { kind: 'failed', error: new ModelError(reason, 'It can not.', { retryable: false }) },
];

export async function openStage(): Promise<Stage> {
  const stage = await Stage.open();
  stage.runtimes = [runtime()];
  return stage;
}

/** One turn after the other: what a person says, and what the models say. */
export async function talk(stage: Stage, words: string, ...script: Stage['script']): Promise<void> {
  stage.script = script;
  await stage.hears(words);
  assert.equal(await stage.run(), 'rested');
  assert.deepEqual(stage.script, [], 'not all of the script was played');
}

export async function asks(stage: Stage, topic = ''): Promise<void> {
  const lease = await stage.store.acquireLease(stage.sessionId, stage.owner, 30_000);
  assert.ok(lease);
  const place = { channel: 'cli', target: 'x' };
  await stage.store.commit(lease, [{ verb: 'compress', step: { kind: 'asked', why: 'person', topic, place } }]);
  await stage.store.releaseLease(lease);
}

export function doneIn(entries: readonly Entry[]): CompressedPrompt[] {
  return entries.flatMap((entry) => (entry.kind === 'compression' && entry.step.kind === 'done' ? [entry.step] : []));
}

export function stepsIn(entries: readonly Entry[]): string[] {
  return entries.flatMap((entry) => (entry.kind === 'compression' ? [entry.step.kind] : []));
}

export const messagesOf = (body: string | undefined) =>
  (JSON.parse(body ?? '{}') as Pick<ModelRequest, 'messages'>).messages.map(
    (message) => `${message.role}: ${textOf(message)}`,
  );

export async function breaksOf(stage: Stage) {
  const calls = await stage.store.read.modelCalls(stage.sessionId);
  return calls.filter(({ purpose }) => purpose === 'answer').map(({ prefixBreak }) => prefixBreak);
}

/** Three turns that together pass the threshold; the fourth is answered after a summary. */
export async function fourTurns(stage: Stage): Promise<void> {
  for (const count of [1, 2, 3]) await talk(stage, `${count}. ${filler}`, says(`${count}! ${filler}`));
  await talk(stage, 'and now?', says('## Goal\nto count; the code is 4711'), says('four'));
}
