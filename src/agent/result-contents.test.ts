import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import type { Entry, ToolResultPart } from '../protocol/messages.ts';
import type { ToolOutcome } from '../tools/tool.ts';
import { fileBytesMax, filesPerCallMax, imageBytesMax, imagesPerCallMax } from './result-contents.ts';
import { Stage, asksFor, says } from './test-stage.ts';

const bytes = Uint8Array.of(1, 2, 3);
const sha256 = createHash('sha256').update(bytes).digest('hex');
const pdf = { name: 'report.pdf', mediaType: 'application/pdf', bytes };
const picture = { mediaType: 'image/png', bytes: Uint8Array.of(9) };

async function stageWith(outcome: ToolOutcome, replay: 'safe' | 'never' = 'never'): Promise<Stage> {
  const stage = await Stage.open();
  stage.tools['make'] = { run: () => outcome, replay };
  stage.script = [asksFor(['make', '{}']), says('done')];
  await stage.hears('make it');
  return stage;
}

function resultIn(entries: readonly Entry[]): ToolResultPart {
  for (const entry of entries) {
    if (entry.kind === 'message' && entry.message.role === 'tool') return entry.message.parts[0];
  }
  throw new Error('there is no result');
}

async function deliveriesOf(stage: Stage): Promise<unknown[]> {
  const sent: unknown[] = [];
  for (;;) {
    const [next] = await stage.store.claimDeliveries(stage.owner, 1);
    if (next === undefined) return sent;
    sent.push([next.channel, next.target, next.file?.name ?? null, next.text]);
    await stage.store.settleDelivery(next.id, { kind: 'sent', platformId: null });
  }
}

test('what a call made is in its result and its bytes are kept; files go out before the answer', async () => {
  const stage = await stageWith({
    kind: 'finished',
    text: 'made',
    images: [picture],
    files: [
      { ...pdf, caption: 'See page 2' },
      { ...pdf, name: 'again.pdf' },
    ],
    untrusted: 'web',
  });
  await stage.run();
  const { callId: _callId, ...result } = resultIn(await stage.entries());
  const content = { sha256, bytes: 3, mediaType: 'application/pdf' };
  const imageHash = createHash('sha256').update(picture.bytes).digest('hex');
  assert.deepEqual(result, {
    kind: 'tool-result',
    outcome: 'finished',
    text: 'made',
    images: [{ sha256: imageHash, bytes: 1, mediaType: 'image/png' }],
    files: [
      { name: 'report.pdf', content },
      { name: 'again.pdf', content },
    ],
    untrusted: 'web',
  });
  assert.deepEqual(await stage.store.read.content(sha256), bytes);
  assert.deepEqual(await deliveriesOf(stage), [
    ['cli', 'x', 'report.pdf', 'See page 2'],
    ['cli', 'x', 'again.pdf', ''],
    ['cli', 'x', null, 'done'],
  ]);
});

test('the next prompt has the bytes of a picture that a call made', async () => {
  const stage = await stageWith({ kind: 'finished', text: 'shown', images: [picture] });
  let seen: ReadonlyMap<string, Uint8Array> = new Map();
  const [ask] = stage.script;
  assert.ok(ask);
  stage.script = [
    ask,
    async function* (request) {
      seen = request.contents;
      yield* says('a dot');
    },
  ];
  await stage.run();
  assert.deepEqual([...seen.values()], [picture.bytes]);
});

test('killed before the result is stored, nothing of it is there; done again, everything once', async () => {
  const stage = await stageWith({ kind: 'finished', text: 'made', files: [pdf] }, 'safe');
  stage.beforeCommit = (writes) => {
    if (writes[0]?.verb === 'settle-call') throw new Error('dead');
  };
  await assert.rejects(stage.run(), /dead/);
  assert.equal(await stage.store.read.content(sha256), null);
  assert.deepEqual(await deliveriesOf(stage), []);
  stage.livesAgain();
  await stage.run();
  assert.deepEqual(await deliveriesOf(stage), [
    ['cli', 'x', 'report.pdf', ''],
    ['cli', 'x', null, 'done'],
  ]);
});

test('what is too many or too large makes the call fail, and nothing of it is sent', async () => {
  const many = <Item>(item: Item, count: number) => Array.from({ length: count }, () => item);
  for (const [made, expected] of [
    [{ files: many(pdf, filesPerCallMax + 1) }, /at most 10 files, not 11/],
    [
      { files: [pdf, { ...pdf, bytes: new Uint8Array(fileBytesMax + 1) }] },
      /"report\.pdf" has 20\.0 MB, at most 20 MB/,
    ],
    [{ images: many(picture, imagesPerCallMax + 1) }, /at most 4 pictures, not 5/],
    [{ images: [{ ...picture, bytes: new Uint8Array(imageBytesMax + 1) }] }, /5\.0 MB, at most 5 MB can be shown/],
  ] as const) {
    const stage = await stageWith({ kind: 'finished', text: 'made', ...made });
    await stage.run();
    const result = resultIn(await stage.entries());
    assert.equal(result.outcome, 'failed');
    assert.match(result.text, expected);
    assert.deepEqual([result.files, result.images], [undefined, undefined]);
    assert.deepEqual(await deliveriesOf(stage), [['cli', 'x', null, 'done']]);
  }
});

test('what may just be sent is sent', async () => {
  const files = Array.from({ length: filesPerCallMax }, (_, index) => ({ ...pdf, name: `${index}` }));
  const stage = await stageWith({ kind: 'finished', text: 'made', files });
  await stage.run();
  assert.equal((await deliveriesOf(stage)).length, filesPerCallMax + 1);
});

test('a question is shown, and what is to be sent is told of, while a call beside it still runs', async () => {
  const stage = await Stage.open();
  const gate = Promise.withResolvers<string>();
  stage.tools = {
    slow: { effect: 'read', run: () => gate.promise },
    ask: { effect: 'read', run: () => '', asks: { text: 'Shall I?', choices: ['yes'], deadline: 10 ** 15 } },
  };
  stage.script = [asksFor(['slow', '{}'], ['ask', '{}']), says('done')];
  await stage.hears('go');
  const told = Promise.withResolvers<void>();
  stage.onQueued = told.resolve;
  const running = stage.run();
  await told.promise;
  await new Promise((resolve) => setImmediate(resolve));
  const asked = stage.published.filter((event) => event.kind === 'entry' && event.entry.kind === 'notice');
  assert.equal(asked.length, 1);
  gate.resolve('slow');
  assert.equal(await running, 'waits');
  const shown = stage.published.flatMap((event) => (event.kind === 'entry' ? [event.entry.seq] : []));
  assert.deepEqual(
    shown,
    [...new Set(shown)].sort((a, b) => a - b),
    'each entry once and in order',
  );
});
