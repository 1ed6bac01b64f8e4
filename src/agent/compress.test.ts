import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ModelError, type ModelEvent, type ModelRequest, type Runtime } from '../models/model.ts';
import { scriptedRuntime } from '../models/scripted-model.ts';
import { textOf, type CompressedPrompt, type Entry } from '../protocol/messages.ts';
import { loadJournal } from './journal.ts';
import { modelRequest } from './model-request.ts';
import { asksFor, says, Stage } from './test-stage.ts';
import { ActionCut } from './turn-deps.ts';

const compressor = { provider: 'scripted', model: 'script', contextLength: 10_000, thresholdTokens: 800 };
const runtime = (more: Partial<Runtime> = {}) => scriptedRuntime({ compressor, ...more });
const filler = 'lorem ipsum dolor sit amet '.repeat(20);
const fails = (reason: 'context-overflow' | 'server'): ModelEvent[] => [
  { kind: 'failed', error: new ModelError(reason, 'It can not.', { retryable: false }) },
];

async function openStage(): Promise<Stage> {
  const stage = await Stage.open();
  stage.runtimes = [runtime()];
  return stage;
}

/** One turn after the other: what a person says, and what the models say. */
async function talk(stage: Stage, words: string, ...script: Stage['script']): Promise<void> {
  stage.script = script;
  await stage.hears(words);
  assert.equal(await stage.run(), 'rested');
  assert.deepEqual(stage.script, [], 'not all of the script was played');
}

async function asks(stage: Stage, topic = ''): Promise<void> {
  const lease = await stage.store.acquireLease(stage.sessionId, stage.owner, 30_000);
  assert.ok(lease);
  const place = { channel: 'cli', target: 'x' };
  await stage.store.commit(lease, [{ verb: 'compress', step: { kind: 'asked', why: 'person', topic, place } }]);
  await stage.store.releaseLease(lease);
}

function doneIn(entries: readonly Entry[]): CompressedPrompt[] {
  return entries.flatMap((entry) => (entry.kind === 'compression' && entry.step.kind === 'done' ? [entry.step] : []));
}

function stepsIn(entries: readonly Entry[]): string[] {
  return entries.flatMap((entry) => (entry.kind === 'compression' ? [entry.step.kind] : []));
}

const messagesOf = (body: string | undefined) =>
  (JSON.parse(body ?? '{}') as Pick<ModelRequest, 'messages'>).messages.map(
    (message) => `${message.role}: ${textOf(message)}`,
  );

async function breaksOf(stage: Stage) {
  const calls = await stage.store.read.modelCalls(stage.sessionId);
  return calls.filter(({ purpose }) => purpose === 'answer').map(({ prefixBreak }) => prefixBreak);
}

/** Three turns that together pass the threshold; the fourth is answered after a summary. */
async function fourTurns(stage: Stage): Promise<void> {
  for (const count of [1, 2, 3]) await talk(stage, `${count}. ${filler}`, says(`${count}! ${filler}`));
  await talk(stage, 'and now?', says('## Goal\nto count; the code is 4711'), says('four'));
}

test('C94 a prompt that passes the threshold is summarised before the next call, and that is the reason on record', async () => {
  const stage = await openStage();
  await fourTurns(stage);
  const [done] = doneIn(await stage.entries());
  assert.ok(done);
  assert.deepEqual([done.why, done.by, done.summary], ['threshold', 'model', '## Goal\nto count; the code is 4711']);
  assert.ok(done.tokensAfter < 0.9 * done.tokensBefore);
  const sent = messagesOf(stage.requests.at(-1));
  assert.match(sent[0] ?? '', /told shortly[^]*the code is 4711/);
  assert.equal(sent.at(-1), 'user: and now?');
  assert.ok(sent.every((text) => !text.includes('1. lorem')));
  assert.deepEqual(await breaksOf(stage), ['first-call', null, null, 'compressed']);
  assert.match(
    (await stage.told()).join('\n'),
    /notice: The conversation grew long\. What came before is told to the model in a summary from now on: about [\d,]+ tokens became \d+\. The log keeps every word\.$/m,
  );
  assert.deepEqual(await stage.store.checkIntegrity(), []);
});

test('C93 from the new beginning on every prompt goes on from the one before, in another process too', async () => {
  const stage = await openStage();
  await fourTurns(stage);
  await talk(stage, 'five?', says('five'));
  await talk(stage.nextProcess(), 'six?', says('six'));
  assert.deepEqual((await breaksOf(stage)).slice(3), ['compressed', null, null]);
});

test('the log keeps everything, and search finds what the prompt no longer has', async () => {
  const stage = await openStage();
  await talk(stage, `pineapple ${filler}`, says(filler));
  for (const again of [filler, filler]) await talk(stage, again, says(filler));
  await talk(stage, 'short', says('summary'), says('yes'));
  assert.equal(doneIn(await stage.entries()).length, 1);
  assert.equal((await stage.store.search('pineapple', 5)).length, 1);
  assert.ok((await stage.told()).some((line) => line.includes('pineapple')));
});

test('old results become one line first, and no model is asked if that is enough', async () => {
  const stage = await openStage();
  stage.runtimes = [runtime({ compressor: { ...compressor, thresholdTokens: 2_000 } })];
  stage.tools = { look: { run: () => `begins here ${'x'.repeat(3_000)}` } };
  for (const at of ['it', 'that', 'there'])
    await talk(stage, 'look', asksFor(['look', `{"at":"${at}"}`]), says('seen'));
  const [done] = doneIn(await stage.entries());
  assert.ok(done);
  assert.equal(done.summary, '');
  assert.equal(done.digests.length > 0, true);
  assert.match(
    done.digests[0]?.text ?? '',
    /^\[look \{"at":"it"\}: finished, 3012 characters, shortened\] begins here x+…$/,
  );
  const last = JSON.parse(stage.requests.at(-1) ?? '{}') as ModelRequest;
  assert.ok(
    last.messages.some((message) => message.role === 'tool' && message.parts[0].text === done.digests[0]?.text),
  );
  assert.ok((await breaksOf(stage)).includes('compressed'));
  assert.ok(!(await breaksOf(stage)).includes('unexplained'));
});

test('a summary that exists is brought up to date, not summarised', async () => {
  const stage = await openStage();
  await fourTurns(stage);
  let shown = '';
  const summariser: Stage['script'][number] = async function* (request) {
    shown = textOf(request.messages[0] ?? assert.fail());
    yield* says('second summary');
  };
  for (const count of [5, 6]) await talk(stage, `${count}. ${filler}`, says(`${count}! ${filler}`));
  await talk(stage, `7. ${filler}`, summariser, says('seven'));
  assert.match(shown, /^THE RECORD SO FAR:\n## Goal\nto count; the code is 4711\n\nWHAT WAS SAID AND DONE SINCE:\n/);
  assert.ok(!shown.includes('1. lorem') && shown.includes('5. lorem'));
  assert.equal(doneIn(await stage.entries()).at(-1)?.summary, 'second summary');
});

test('what nobody has answered stays word for word, however long the turn is', async () => {
  const stage = await openStage();
  stage.tools = { step: { run: () => 'y'.repeat(380) } };
  const rounds = [1, 2, 3, 4, 5, 6].map((n): ModelEvent[] => [
    { kind: 'text-delta', text: `step ${n} ${'z'.repeat(300)}` },
    ...asksFor(['step', `{"n":${n}}`]),
  ]);
  const anything: Stage['script'] = [...rounds.slice(0, 5), says('a summary'), ...rounds.slice(5), says('done')];
  await talk(stage, 'please do it EXACTLY so', ...anything);
  const [done] = doneIn(await stage.entries());
  assert.ok(done && done.keeps.length === 1);
  const sent = messagesOf(stage.requests.at(-1));
  assert.match(sent[0] ?? '', /a summary/);
  assert.equal(sent[1], 'user: please do it EXACTLY so');
  assert.equal((await stage.told()).at(-1), 'closed: answered');
});

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

test('people in a chat are told the first time, when it did not go well, and otherwise left in peace', async () => {
  const stage = await openStage();
  const sent = async () => {
    const texts: string[] = [];
    for (;;) {
      const [record] = await stage.store.claimDeliveries(stage.owner, 1);
      if (record === undefined) return texts;
      assert.deepEqual([record.channel, record.target, record.sessionId], ['cli', 'x', stage.sessionId]);
      await stage.store.settleDelivery(record.id, { kind: 'sent', platformId: null });
      if (record.text.length < 400) texts.push(record.text.replace(/^.*(grew long|No model|too little).*$/, '$1'));
    }
  };
  await fourTurns(stage);
  assert.deepEqual(await sent(), ['grew long', 'four']);
  for (const count of [5, 6]) await talk(stage, `${count}. ${filler}`, says(`${count}! ${filler}`));
  await talk(stage, `7. ${filler}`, says('second summary'), says('seven'));
  assert.deepEqual(await sent(), ['seven']);
  for (const count of [8, 9]) await talk(stage, `${count}. ${filler}`, says(`${count}! ${filler}`));
  await talk(stage, `10. ${filler}`, fails('server'), says('ten'));
  assert.deepEqual(await sent(), ['No model', 'ten']);
  assert.deepEqual(
    doneIn(await stage.entries()).map(({ by }) => by),
    ['model', 'model', 'rules'],
  );
  const other = await openStage();
  await talk(other, filler.repeat(6), says('long'));
  assert.match((await other.store.claimDeliveries(other.owner, 1))[0]?.text ?? '', /would win too little/);
});

test('what wins less than a tenth is left, with a word, until there is a good part more', async () => {
  const stage = await openStage();
  await talk(stage, filler.repeat(6), says('long'));
  assert.deepEqual(stepsIn(await stage.entries()), ['declined']);
  assert.match((await stage.told()).join('\n'), /would win too little/);
  await talk(stage, 'and?', says('summary'), says('yes')).catch(() => {});
  const declined = stepsIn(await stage.entries()).filter((kind) => kind === 'declined').length;
  assert.ok(declined <= 1);
});

test('a provider that finds the prompt too long is asked again with a shorter one, at most twice in a turn', async () => {
  const stage = await openStage();
  stage.runtimes = [runtime({ compressor: { ...compressor, thresholdTokens: 100_000 } })];
  for (const count of [1, 2]) await talk(stage, `${count}. ${filler}`, says(`${count}! ${filler}`));
  await talk(stage, 'three', fails('context-overflow'), says('a summary'), says('three!'));
  assert.equal(doneIn(await stage.entries())[0]?.why, 'overflow');
  assert.equal((await stage.told()).at(-1), 'closed: answered');
  stage.tools = { look: { run: () => filler } };
  const rounds = [1, 2, 3].map((n): ModelEvent[] => asksFor(['look', `{"n":${n}}`]));
  await stage.hears('four');
  const refused = [fails('context-overflow'), says('a summary')];
  stage.script = [...rounds, ...refused, ...rounds, ...refused, ...rounds, fails('context-overflow')];
  await stage.run();
  assert.deepEqual(stage.script, []);
  assert.deepEqual(
    doneIn(await stage.entries()).map(({ why }) => why),
    ['overflow', 'overflow', 'overflow'],
  );
  assert.equal((await stage.told()).at(-1), 'closed: failed');
});

test('what a provider finds too long and nothing can shorten is told at once, and it is not asked again', async () => {
  const stage = await openStage();
  await talk(stage, `only this ${filler}`, fails('context-overflow'));
  assert.deepEqual(stepsIn(await stage.entries()), []);
  assert.equal((await stage.told()).at(-1), 'closed: failed');
});

test('a summary that is longer than what it tells is not used', async () => {
  const stage = await openStage();
  stage.runtimes = [runtime({ compressor: { ...compressor, thresholdTokens: 100_000 } })];
  for (const again of [filler, filler]) await talk(stage, again, says(filler));
  const wordy = says(`wordy ${'and '.repeat(2_000)}`);
  await talk(stage, `this stays ${filler.repeat(5)}`, fails('context-overflow'), wordy, says('yes'));
  assert.deepEqual(
    doneIn(await stage.entries()).map(({ by }) => by),
    ['rules'],
  );
  assert.ok(!(stage.requests.at(-1) ?? '').includes('wordy'));
});

test('/compress acts between turns as well, keeps its topic in mind, and says what it won where it was asked', async () => {
  const stage = await openStage();
  stage.runtimes = [runtime({ compressor: { ...compressor, thresholdTokens: 100_000 } })];
  for (const count of [1, 2, 3]) await talk(stage, `${count}. ${filler}`, says(`${count}! ${filler}`));
  let told = '';
  stage.script = [
    async function* (request) {
      told = request.systemPrompt;
      yield* says('a summary');
    },
  ];
  await asks(stage, 'the pineapple');
  assert.equal(await stage.run(), 'rested');
  assert.match(told, /must be kept in full: the pineapple$/);
  const queued = await stage.store.claimDeliveries(stage.owner, 10);
  assert.match(queued.at(-1)?.text ?? '', /^What came before is told[^]*about [\d,]+ tokens became \d+/);
  // A front end that reads the log finds what was sent there, and once.
  assert.ok((await stage.told()).every((line) => !line.startsWith('notice')));
  await talk(stage, 'go on', says('gladly'));
  assert.deepEqual((await breaksOf(stage)).slice(-1), ['compressed']);
});

test('/compress where it is switched off says so and asks no model', async () => {
  const stage = await openStage();
  stage.runtimes = [scriptedRuntime()];
  await talk(stage, 'hello', says('hi'));
  await asks(stage);
  await stage.run();
  assert.deepEqual(stepsIn(await stage.entries()), ['asked', 'declined']);
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
  await talk(stage, 'and now?', says('a summary'), says('four'));
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

test('a summary that is too long keeps its beginning and its end, where the exact values stand', async () => {
  const stage = await openStage();
  for (const count of [1, 2, 3]) await talk(stage, `${count}. ${filler}`, says(`${count}! ${filler}`));
  await talk(stage, 'and now?', says(`## Goal\nto count ${'and on '.repeat(200)}\nthe code is 4711`), says('four'));
  assert.match(
    doneIn(await stage.entries())[0]?.summary ?? '',
    /^## Goal\nto count [^]*left out here[^]*the code is 4711$/,
  );
});

test('no longer summary is asked for than its model can write', async () => {
  const stage = await openStage();
  stage.runtimes = [runtime({ outputTokensMax: 100 })];
  for (const count of [1, 2, 3]) await talk(stage, `${count}. ${filler}`, says(`${count}! ${filler}`));
  let told = '';
  const summariser: Stage['script'][number] = async function* (request) {
    told = request.systemPrompt;
    yield* says('a summary');
  };
  await talk(stage, 'and now?', summariser, says('four'));
  assert.match(told, /at most 300 characters/);
});

test('keys that were said do not get into the summary, nor to the model that writes it', async () => {
  const stage = await openStage();
  const key = 'sk-proj-abcdefghijklmnopqrstuvwxyz0123456789';
  await talk(stage, `my key is ${key} ${filler}`, says(filler));
  for (const again of [filler, filler]) await talk(stage, again, says(filler));
  let shown = '';
  const leaky: Stage['script'][number] = async function* (request) {
    shown = JSON.stringify(request);
    yield* says(`the password: hunter2hunter2 and ${key}`);
  };
  await talk(stage, 'now', leaky, says('done'));
  assert.ok(shown !== '' && !shown.includes(key));
  assert.equal(doneIn(await stage.entries())[0]?.summary, 'the password: [secret left out] and [secret left out]');
});

test('/undo works across it: before what the summary tells, all is back word for word', async () => {
  const stage = await openStage();
  await fourTurns(stage);
  const closed = (await stage.entries()).flatMap((entry) => (entry.kind === 'turn-closed' ? [entry.seq] : []));
  const rewind = async (toSeq: number) => {
    const lease = await stage.store.acquireLease(stage.sessionId, stage.owner, 30_000);
    assert.ok(lease);
    await stage.store.commit(lease, [{ verb: 'rewind', toSeq }]);
    await stage.store.releaseLease(lease);
  };
  await rewind(closed[2] ?? 0);
  await talk(stage, 'four again?', says('four again'));
  assert.match(messagesOf(stage.requests.at(-1))[0] ?? '', /the code is 4711/);
  await rewind(closed[0] ?? 0);
  await talk(stage, 'two?', says('two'));
  assert.deepEqual(
    messagesOf(stage.requests.at(-1)).map((text) => text.slice(0, 9)),
    ['user: 1. ', 'assistant', 'user: two'],
  );
  assert.ok(!(await breaksOf(stage)).includes('unexplained'));
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
      says(request.systemPrompt.startsWith('You keep') ? 'the summary' : 'four');
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

test('what is read of a long log gives the same prompt as all of it', async () => {
  const stage = await openStage();
  for (let count = 0; count < 200; count += 1) {
    stage.script = Array.from(
      { length: 3 },
      () =>
        async function* (request: ModelRequest) {
          yield* says(request.systemPrompt.startsWith('You keep') ? 'told so far' : `answer ${filler}`);
        },
    );
    await stage.hears(`question ${count} ${filler}`);
    await stage.run();
  }
  const { read } = stage.store;
  const [whole, short] = [await read.journal(stage.sessionId, 0), await loadJournal(read, stage.sessionId)];
  assert.ok(whole && short);
  assert.ok(whole.entries.length > 500 && short.entries.length < 200, `${short.entries.length}`);
  const manner = { effort: null, cachePace: 'short', contents: new Map() } as const;
  assert.deepEqual(modelRequest(short, manner), modelRequest(whole, manner));
  assert.ok(!(await breaksOf(stage)).includes('unexplained'));
});
