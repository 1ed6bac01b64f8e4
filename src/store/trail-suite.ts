/** How the newest prompt on a runtime began, from what each call kept and added. */
import assert from 'node:assert/strict';
import { firstPrompt } from './fake-conversation.ts';
import type { Declare } from './fake-world.ts';
import type { PromptStep } from './store.ts';

function going(runtime: string, kept: number, ...added: readonly string[]): PromptStep {
  return { ...firstPrompt(runtime, ...added), kept, prefixBreak: null };
}

function breaking(runtime: string, kept: number, ...added: readonly string[]): PromptStep {
  return { ...firstPrompt(runtime, ...added), kept, prefixBreak: 'compressed' };
}

export function trailSuite(declare: Declare): void {
  declare('C95 a trail grows with every prompt, and goes on after a break', async ({ store, conversation }) => {
    const chat = conversation('alpha');
    const turnId = await chat.openTurn();
    const trail = () => store.read.promptTrail(chat.sessionId, 'one');
    const rest = { headSeq: 1, effort: null };
    assert.equal(await trail(), null);
    const steps: readonly (readonly [PromptStep, string])[] = [
      [firstPrompt('one', 'a', 'b'), 'ab'],
      [going('one', 2, 'c', 'd'), 'abcd'],
      [going('one', 4), 'abcd'],
      [breaking('one', 1, 'x'), 'ax'],
      [going('one', 2, 'y'), 'axy'],
      [breaking('one', 0, 'z'), 'z'],
      [breaking('one', 0), ''],
      [going('one', 0, 'q', 'r'), 'qr'],
    ];
    for (const [prompt, expected] of steps) {
      await chat.callModel(turnId, { prompt });
      assert.deepEqual(await trail(), { units: expected.split(''), ...rest });
    }
    const breaks = (await store.read.modelCalls(chat.sessionId)).map((call) => call.prefixBreak);
    assert.deepEqual(breaks, ['first-call', null, null, 'compressed', null, 'compressed', 'compressed', null]);
  });

  declare('C95 each runtime of a session has a trail of its own, and so has each session', async (world) => {
    const { store, conversation } = world;
    const [chat, other] = [conversation('alpha'), conversation('beta')];
    const turnId = await chat.openTurn();
    const elsewhere = await other.openTurn('there');
    await chat.callModel(turnId, { prompt: firstPrompt('one', 'a') });
    await other.callModel(elsewhere, { prompt: firstPrompt('one', 'z') });
    await chat.callModel(turnId, {
      prompt: { ...firstPrompt('two', 'b'), prefixBreak: 'other-model', headSeq: 3, effort: 'high' },
    });
    await chat.callModel(turnId, { prompt: going('one', 1, 'c') });
    assert.deepEqual(await store.read.promptTrail(chat.sessionId, 'one'), {
      units: ['a', 'c'],
      headSeq: 1,
      effort: null,
    });
    assert.deepEqual(await store.read.promptTrail(chat.sessionId, 'two'), { units: ['b'], headSeq: 3, effort: 'high' });
    assert.deepEqual(await store.read.promptTrail(other.sessionId, 'one'), { units: ['z'], headSeq: 1, effort: null });
    assert.equal(await store.read.promptTrail(other.sessionId, 'two'), null);
  });

  declare('C95 a prompt counts whatever became of its call: it may have been sent', async ({ store, conversation }) => {
    const chat = conversation('alpha');
    const turnId = await chat.openTurn();
    await chat.callModel(turnId, { prompt: firstPrompt('one', 'a') }, { outcome: 'failed', usage: null, error: 'no' });
    await chat.callModel(turnId, { prompt: going('one', 1, 'b') }, { outcome: 'cancelled', usage: null });
    await chat.startModelCall(turnId, { prompt: going('one', 2, 'c') });
    await chat.startModelCall(turnId, { prompt: going('one', 3, 'd') });
    const trail = await store.read.promptTrail(chat.sessionId, 'one');
    assert.deepEqual(trail?.units, ['a', 'b', 'c', 'd']);
  });

  declare('C95 a break without a reason on record is counted for good', async ({ store, conversation }) => {
    const chat = conversation('alpha');
    const turnId = await chat.openTurn();
    await chat.callModel(turnId, { prompt: firstPrompt('one', 'a') });
    await chat.callModel(turnId, { prompt: breaking('one', 0, 'b') });
    assert.equal((await store.read.totals()).prefixBreaks, 0);
    for (const unit of ['c', 'd']) {
      await chat.callModel(turnId, { prompt: { ...breaking('one', 0, unit), prefixBreak: 'unexplained' } });
    }
    await chat.closeTurn(turnId);
    await store.deleteSession(chat.sessionId);
    assert.equal((await store.read.totals()).prefixBreaks, 2);
  });

  declare('C93 a trail outlives the process', async ({ store, ids, reopen, conversation }, context) => {
    if (reopen === null) return context.skip('nothing outlives this store');
    const chat = conversation('alpha');
    const turnId = await chat.openTurn();
    await chat.callModel(turnId, { prompt: firstPrompt('one', 'a', 'b') });
    await chat.callModel(turnId, { prompt: { ...breaking('one', 1, 'c', 'd'), headSeq: 7, effort: 'low' } });
    await chat.startModelCall(turnId, { prompt: { ...going('one', 3, 'e'), headSeq: 7, effort: 'low' } });
    const before = await store.read.promptTrail(chat.sessionId, 'one');
    assert.deepEqual(before, { units: ['a', 'c', 'd', 'e'], headSeq: 7, effort: 'low' });
    const again = await reopen(ids.next('nod'));
    assert.deepEqual(await again.read.promptTrail(chat.sessionId, 'one'), before);
  });
}
