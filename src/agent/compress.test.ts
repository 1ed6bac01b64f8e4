import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ModelEvent, ModelRequest } from '../models/model.ts';
import { scriptedRuntime } from '../models/scripted-model.ts';
import { textOf } from '../protocol/messages.ts';
import { loadJournal } from './journal.ts';
import { modelRequest } from './model-request.ts';
import {
  asks,
  breaksOf,
  compressor,
  doneIn,
  fails,
  filler,
  fourTurns,
  messagesOf,
  openStage,
  runtime,
  stepsIn,
  talk,
} from './test-compression.ts';
import { asksFor, says, type Stage } from './test-stage.ts';

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
  await talk(stage, 'short', says('## Goal\nsummary'), says('yes'));
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
    yield* says('## Goal\nsecond summary');
  };
  for (const count of [5, 6]) await talk(stage, `${count}. ${filler}`, says(`${count}! ${filler}`));
  await talk(stage, `7. ${filler}`, summariser, says('seven'));
  assert.match(shown, /^THE RECORD SO FAR:\n## Goal\nto count; the code is 4711\n\nWHAT WAS SAID AND DONE SINCE:\n/);
  assert.ok(!shown.includes('1. lorem') && shown.includes('5. lorem'));
  assert.equal(doneIn(await stage.entries()).at(-1)?.summary, '## Goal\nsecond summary');
});

test('what nobody has answered stays word for word, however long the turn is', async () => {
  const stage = await openStage();
  stage.tools = { step: { run: () => 'y'.repeat(380) } };
  const rounds = [1, 2, 3, 4, 5, 6].map((n): ModelEvent[] => [
    { kind: 'text-delta', text: `step ${n} ${'z'.repeat(300)}` },
    ...asksFor(['step', `{"n":${n}}`]),
  ]);
  const anything: Stage['script'] = [
    ...rounds.slice(0, 5),
    says('## Goal\na summary'),
    ...rounds.slice(5),
    says('done'),
  ];
  await talk(stage, 'please do it EXACTLY so', ...anything);
  const [done] = doneIn(await stage.entries());
  assert.ok(done && done.keeps.length === 1);
  const sent = messagesOf(stage.requests.at(-1));
  assert.match(sent[0] ?? '', /a summary/);
  assert.equal(sent[1], 'user: please do it EXACTLY so');
  assert.equal((await stage.told()).at(-1), 'closed: answered');
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
  await talk(stage, `7. ${filler}`, says('## Goal\nsecond summary'), says('seven'));
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

test('/compress acts between turns as well, keeps its topic in mind, and says what it won where it was asked', async () => {
  const stage = await openStage();
  stage.runtimes = [runtime({ compressor: { ...compressor, thresholdTokens: 100_000 } })];
  for (const count of [1, 2, 3]) await talk(stage, `${count}. ${filler}`, says(`${count}! ${filler}`));
  let told = '';
  stage.script = [
    async function* (request) {
      told = request.systemPrompt;
      yield* says('## Goal\na summary');
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
    yield* says('## Goal\na summary');
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
    yield* says(`## Exact values\nthe password: hunter2hunter2 and ${key}`);
  };
  await talk(stage, 'now', leaky, says('done'));
  assert.ok(shown !== '' && !shown.includes(key));
  assert.equal(
    doneIn(await stage.entries())[0]?.summary,
    '## Exact values\nthe password: [secret left out] and [secret left out]',
  );
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

test('C95 what was taken back explains another beginning, also when the clock was set back meanwhile', async () => {
  const stage = await openStage();
  await talk(stage, 'one', says('1'));
  await talk(stage, 'two', says('2'));
  await stage.storeClock.advance(-3_600_000);
  const [first = 0] = (await stage.entries()).flatMap((entry) => (entry.kind === 'turn-closed' ? [entry.seq] : []));
  const lease = await stage.store.acquireLease(stage.sessionId, stage.owner, 30_000);
  assert.ok(lease);
  await stage.store.commit(lease, [{ verb: 'rewind', toSeq: first }]);
  await stage.store.releaseLease(lease);
  await talk(stage, 'other', says('3'));
  await talk(stage, 'more', says('4'));
  assert.deepEqual(await breaksOf(stage), ['first-call', null, 'rewound', null]);
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
