import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ModelError, type ModelEvent, type ModelRequest } from '../models/model.ts';
import {
  asks,
  breaksOf,
  compressor,
  doneIn,
  fails,
  filler,
  messagesOf,
  openStage,
  runtime,
  stepsIn,
  talk,
} from './test-compression.ts';
import { asksFor, says, type Stage } from './test-stage.ts';
import { ActionCut } from './turn-deps.ts';

test('if the summariser fails, a digest by rules serves and the user is told', async () => {
  const stage = await openStage();
  for (const count of [1, 2, 3]) await talk(stage, `${count}. ${filler}`, says(`${count}! ${filler}`));
  await talk(stage, 'and now?', fails('server'), says('four'));
  const [done] = doneIn(await stage.entries());
  assert.equal(done?.by, 'rules');
  assert.match(done.summary, /- asked: 3\. lorem/);
  assert.match((await stage.told()).join('\n'), /No model could write it/);
  assert.deepEqual(
    (await stage.store.read.modelCalls(stage.sessionId)).map(({ purpose, state }) => [purpose, state]).at(-2),
    ['compression', 'failed'],
  );
});

test('what a summariser says that declines or writes no record is no summary', async () => {
  const declined: ModelEvent[] = says('## Sorry\nI can not help with that.').map((event) =>
    event.kind === 'end' ? { ...event, stop: 'refused' } : event,
  );
  for (const answer of [declined, says('I can not help with that.'), says('What would you like to know?'), says(' ')]) {
    const stage = await openStage();
    for (const count of [1, 2, 3]) await talk(stage, `${count}. ${filler}`, says(`${count}! ${filler}`));
    await talk(stage, 'and now?', answer, says('four'));
    const [done] = doneIn(await stage.entries());
    assert.equal(done?.by, 'rules');
    assert.match(done.summary, /- asked: 3\. lorem/);
    assert.match((await stage.told()).join('\n'), /No model could write it/);
  }
});

test('that no model could write the summary is told, also where results are told in one line already', async () => {
  const stage = await openStage();
  stage.runtimes = [runtime({ compressor: { ...compressor, thresholdTokens: 2_200 } })];
  stage.tools = { look: { run: () => `begins here ${'x'.repeat(2_600)}` } };
  const look = (at: string) => asksFor(['look', `{"at":"${at}"}`]);
  await talk(stage, `first ${filler.repeat(2)}`, says(filler));
  for (const at of ['it', 'that', 'there']) await talk(stage, 'look', look(at), says('seen'));
  const [digested] = doneIn(await stage.entries());
  assert.ok(digested !== undefined && digested.digests.length > 0);
  assert.match(
    (await stage.told()).join('\n'),
    /Old results of tools are told to the model in one line each from now on/,
  );
  // So much of what is new stays that those results are among it.
  stage.built = { ...stage.agent, compression: { summariser: null, targetRatio: 0.7, protectLastN: 20 } };
  await asks(stage);
  stage.script = [fails('server')];
  await stage.run();
  const done = doneIn(await stage.entries()).at(-1);
  assert.deepEqual([done?.why, done?.by, done?.digests.length], ['person', 'rules', 2]);
  const queued = await stage.store.claimDeliveries(stage.owner, 10);
  assert.ok(queued.some(({ text }) => /in a summary from now on.* No model could write it/.test(text)));
});

test('what wins less than a tenth is left, with a word, until there is a good part more', async () => {
  const stage = await openStage();
  await talk(stage, filler.repeat(6), says('long'));
  assert.deepEqual(stepsIn(await stage.entries()), ['declined']);
  assert.match((await stage.told()).join('\n'), /would win too little/);
  await talk(stage, 'and?', says('## Goal\nsummary'), says('yes')).catch(() => {});
  const declined = stepsIn(await stage.entries()).filter((kind) => kind === 'declined').length;
  assert.ok(declined <= 1);
});

test('a provider that finds the prompt too long is asked again with a shorter one, at most twice in a turn', async () => {
  const stage = await openStage();
  stage.runtimes = [runtime({ compressor: { ...compressor, thresholdTokens: 100_000 } })];
  for (const count of [1, 2]) await talk(stage, `${count}. ${filler}`, says(`${count}! ${filler}`));
  await talk(stage, 'three', fails('context-overflow'), says('## Goal\na summary'), says('three!'));
  assert.equal(doneIn(await stage.entries())[0]?.why, 'overflow');
  assert.equal((await stage.told()).at(-1), 'closed: answered');
  stage.tools = { look: { run: () => filler } };
  const rounds = [1, 2, 3].map((n): ModelEvent[] => asksFor(['look', `{"n":${n}}`]));
  await stage.hears('four');
  const refused = [fails('context-overflow'), says('## Goal\na summary')];
  stage.script = [...rounds, ...refused, ...rounds, ...refused, ...rounds, fails('context-overflow')];
  await stage.run();
  assert.deepEqual(stage.script, []);
  assert.deepEqual(
    doneIn(await stage.entries()).map(({ why }) => why),
    ['overflow', 'overflow', 'overflow'],
  );
  assert.equal((await stage.told()).at(-1), 'closed: failed');
});

test('a request that is too large in bytes is made shorter as well', async () => {
  const stage = await openStage();
  stage.runtimes = [runtime({ compressor: { ...compressor, thresholdTokens: 100_000 } })];
  for (const count of [1, 2]) await talk(stage, `${count}. ${filler}`, says(`${count}! ${filler}`));
  await talk(stage, 'three', fails('payload-too-large'), says('## Goal\na summary'), says('three!'));
  assert.deepEqual(
    [doneIn(await stage.entries())[0]?.why, (await stage.told()).at(-1)],
    ['overflow', 'closed: answered'],
  );
});

test('what a provider finds too long and nothing can shorten is told at once, and it is not asked again', async () => {
  const stage = await openStage();
  await talk(stage, `only this ${filler}`, fails('context-overflow'));
  assert.deepEqual(stepsIn(await stage.entries()), []);
  assert.equal((await stage.told()).at(-1), 'closed: failed');
});

test('results that are too long together are told in one line each, if a provider finds them so, and the turn goes on', async () => {
  const stage = await openStage();
  stage.tools = { look: { run: () => `begins here ${'x'.repeat(9_000)}` } };
  const both = asksFor(['look', '{"at":"it"}'], ['look', '{"at":"that"}']);
  await talk(stage, 'look', both, fails('context-overflow'), says('too much at once'));
  assert.deepEqual(stepsIn(await stage.entries()), ['declined', 'asked', 'done']);
  const [done] = doneIn(await stage.entries());
  assert.deepEqual([done?.why, done?.summary, done?.digests.length], ['overflow', '', 2]);
  const sent = messagesOf(stage.requests.at(-1));
  assert.equal(sent[0], 'user: look');
  assert.match(stage.requests.at(-1) ?? '', /look .*at.*it.*: finished, 9012 characters, shortened\] begins here xxx/);
  assert.match((await stage.told()).join('\n'), /Long results of tools are told to the model in one line each/);
  assert.deepEqual((await stage.told()).slice(-1), ['closed: answered']);
});

test('a provider that counts far more than there is has the conversation shortened once, not with every turn', async () => {
  const stage = await openStage();
  const counts = (text: string, inputTokens: number): ModelEvent[] =>
    says(text).map((event) => (event.kind === 'end' ? { ...event, usage: { ...event.usage, inputTokens } } : event));
  await talk(stage, `1. ${filler}`, counts(`1! ${filler}`, 1_000_000));
  await talk(stage, `2. ${filler}`, says('## Goal\nto count'), counts(`2! ${filler}`, 1_000_000));
  for (const count of [3, 4, 5]) await talk(stage, `${count}. ${filler}`, counts(`${count}! ${filler}`, 1_000_000));
  assert.deepEqual(stepsIn(await stage.entries()), ['begun', 'done']);
  // A quarter more than it said then is growth, whatever it counts by.
  await talk(stage, '6.', counts('6!', 1_300_000));
  await talk(stage, '7.', says('## Goal\nto count'), counts('7!', 1_000_000));
});

test('a summary that is longer than what it tells is not used', async () => {
  const stage = await openStage();
  stage.runtimes = [runtime({ compressor: { ...compressor, thresholdTokens: 100_000 } })];
  for (const again of [filler, filler]) await talk(stage, again, says(filler));
  const wordy = says(`## Goal\nwordy ${'and '.repeat(2_000)}`);
  await talk(stage, `this stays ${filler.repeat(5)}`, fails('context-overflow'), wordy, says('yes'));
  assert.deepEqual(
    doneIn(await stage.entries()).map(({ by }) => by),
    ['rules'],
  );
  assert.ok(!(stage.requests.at(-1) ?? '').includes('wordy'));
});

test('what somebody stops did not fail: the model is asked again for a summary, and a wish is not', async () => {
  const stage = await openStage();
  for (const count of [1, 2, 3]) await talk(stage, `${count}. ${filler}`, says(`${count}! ${filler}`));
  const stopped: Stage['script'][number] = async function* () {
    await stage.store.requestStop(stage.sessionId);
    stage.action.abort(new ActionCut('stop'));
    yield { kind: 'failed', error: new ModelError('cancelled', 'cancelled') };
  };
  for (const again of [1, 2, 3]) await talk(stage, `now ${again}?`, stopped);
  await talk(stage, 'and now?', says('## Goal\na summary'), says('four'));
  assert.deepEqual(
    doneIn(await stage.entries()).map(({ by }) => by),
    ['model'],
  );
  for (const count of [5, 6]) await talk(stage, `${count}. ${filler}`, says(`${count}! short`));
  await asks(stage);
  stage.script = [stopped];
  await stage.run();
  assert.deepEqual([stepsIn(await stage.entries()).at(-1), stage.script], ['declined', []]);
});

test('C85 C87 killed at every commit, it has the old beginning or the new one, and the turn is answered', async () => {
  for (let dieAt = 1; ; dieAt += 1) {
    const stage = await openStage();
    for (const count of [1, 2, 3]) await talk(stage, `${count}. ${filler}`, says(`${count}! ${filler}`));
    await stage.hears('and now?');
    let commits = 0;
    stage.beforeCommit = () => {
      commits += 1;
      if (commits === dieAt) stage.dies();
      if (commits === dieAt) throw new Error('dead');
    };
    const answers = (request: ModelRequest) =>
      says(request.systemPrompt.startsWith('You keep') ? '## Goal\nthe summary' : 'four');
    const reply: Stage['script'][number] = async function* (request) {
      yield* answers(request);
    };
    stage.script = Array.from({ length: 6 }, () => reply);
    const isKilled = await stage.run().then(
      () => false,
      () => true,
    );
    const steps = stepsIn(await stage.entries());
    assert.ok(steps.length <= 1 || steps.at(-1) === 'done');
    stage.livesAgain();
    const lease = await stage.store.acquireLease(stage.sessionId, stage.owner, 30_000);
    if (lease !== null) await stage.store.releaseLease(lease);
    stage.script = Array.from({ length: 6 }, () => reply);
    await stage.run();
    assert.equal(doneIn(await stage.entries()).length, 1, `killed at ${dieAt}`);
    assert.equal((await stage.told()).at(-1), 'closed: answered');
    assert.ok(!(await breaksOf(stage)).includes('unexplained'));
    assert.deepEqual(await stage.store.checkIntegrity(), []);
    if (!isKilled) return;
  }
});

test('a summary that took the process down twice is written by rules, and no model is asked for it again', async () => {
  const stage = await openStage();
  for (const count of [1, 2, 3]) await talk(stage, `${count}. ${filler}`, says(`${count}! ${filler}`));
  const lease = await stage.store.acquireLease(stage.sessionId, stage.owner, 30_000);
  assert.ok(lease);
  await stage.store.commit(lease, [{ verb: 'compress', step: { kind: 'begun' } }]);
  await stage.store.commit(lease, [{ verb: 'compress', step: { kind: 'begun' } }]);
  await stage.store.releaseLease(lease);
  await talk(stage, 'and now?', says('four'));
  assert.deepEqual(
    doneIn(await stage.entries()).map(({ by }) => by),
    ['rules'],
  );
});
