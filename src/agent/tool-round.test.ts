import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ModelRequest } from '../models/model.ts';
import { StoreError } from '../store/store.ts';
import { Stage, asksFor, says } from './test-stage.ts';

test('C81 the answer with its calls is stored before any of its tools starts', async () => {
  const stage = await Stage.open();
  let seen: string[] = [];
  stage.tools['look'] = { run: async () => ((seen = await stage.told()), 'looked') };
  stage.script = [asksFor(['look', '{}']), says('done')];
  await stage.hears('look');
  await stage.run();
  assert.deepEqual(seen, ['head', 'turn-opened', 'user: look', 'assistant:  →look']);
});

test('C82 tools in sequence: start c1, store c1, start c2, store c2', async () => {
  const stage = await Stage.open();
  stage.tools['c1'] = { run: () => 'r1' };
  stage.tools['c2'] = { run: () => 'r2' };
  stage.script = [asksFor(['c1', '{}'], ['c2', '{}']), says('done')];
  await stage.hears('both');
  await stage.run();
  const round = stage.history.slice(
    stage.history.indexOf('store answer with 2 calls') + 1,
    stage.history.lastIndexOf('start-model-call'),
  );
  assert.deepEqual(round, ['start-call', 'run c1', 'store r1', 'start-call', 'run c2', 'store r2']);
});

test('mistakes of the model become results that name them, and the turn goes on', async () => {
  const stage = await Stage.open();
  stage.tools['breaks'] = { run: () => Promise.reject(new Error('out of luck')) };
  stage.script = [asksFor(['nothing', '{}'], ['breaks', '{"a":'], ['breaks', '{}']), says('done')];
  await stage.hears('go');
  await stage.run();
  const results = (await stage.told()).filter((line) => line.startsWith('result'));
  assert.match(results[0] ?? '', /failed: There is no tool named "nothing"/);
  assert.match(results[1] ?? '', /failed: The arguments of breaks can't be used: they are not valid JSON/);
  assert.match(results[2] ?? '', /failed: The tool failed unexpectedly: out of luck/);
  assert.equal((await stage.told()).at(-1), 'closed: answered');
});

test('whoever calls a tool by its own name that has to be used through another is told so', async () => {
  const stage = await Stage.open();
  stage.tools['tool_use'] = { run: () => 'used' };
  stage.script = [asksFor(['mcp_found', '{}']), says('done')];
  await stage.hears('go');
  await stage.run();
  assert.match(
    (await stage.told()).join('\n'),
    /no tool named "mcp_found"\. One that tool_search found is used through/,
  );
});

test('C83 calls that allow it run side by side; each result is stored once, as soon as it is there, and sent in call order', async () => {
  const stage = await Stage.open();
  const gates = [Promise.withResolvers<string>(), Promise.withResolvers<string>(), Promise.withResolvers<string>()];
  const storedSoFar: string[][] = [];
  stage.tools = Object.fromEntries(
    gates.map((gate, index) => [`t${index}`, { effect: 'read' as const, run: () => gate.promise }]),
  );
  stage.script = [asksFor(['t0', '{}'], ['t1', '{}'], ['t2', '{}']), says('done')];
  stage.afterCommit = (writes) => {
    const started = stage.history.filter((line) => line.startsWith('run')).length;
    if (writes[0]?.verb === 'start-call' && started === 0) queueMicrotask(() => gates[2]?.resolve('r2'));
    if (writes[0]?.verb !== 'settle-call') return;
    storedSoFar.push(stage.history.filter((line) => line.startsWith('store r')));
    gates[2 - storedSoFar.length]?.resolve(`r${2 - storedSoFar.length}`);
  };
  await stage.hears('all');
  await stage.run();
  assert.deepEqual(storedSoFar, [['store r2'], ['store r2', 'store r1'], ['store r2', 'store r1', 'store r0']]);
  const last = JSON.parse(stage.requests.at(-1) ?? '') as ModelRequest;
  const sent = last.messages.flatMap((message) => (message.role === 'tool' ? [message.parts[0].text] : []));
  assert.deepEqual(sent, ['r0', 'r1', 'r2']);
});

test('no more than eight calls run at once, and a round with one that must be alone runs in sequence', async () => {
  const stage = await Stage.open();
  let inside = 0;
  let most = 0;
  const run = async () => {
    most = Math.max(most, ++inside);
    await new Promise((resolve) => setImmediate(resolve));
    inside -= 1;
    return 'ok';
  };
  stage.tools = { read: { effect: 'read', run }, write: { run } };
  const reads = Array.from({ length: 20 }, (): [string, string] => ['read', '{}']);
  stage.script = [asksFor(...reads), asksFor(['read', '{}'], ['write', '{}'], ['read', '{}']), says('done')];
  const peaks: number[] = [];
  stage.afterCommit = (writes) => {
    if (writes[0]?.verb !== 'start-model-call') return;
    peaks.push(most);
    most = 0;
  };
  await stage.hears('go');
  await stage.run();
  assert.deepEqual(peaks, [0, 8, 1]);
});

test('calls on the same thing wait for each other, calls on different things do not', async () => {
  for (const [first, second, most] of [
    [['a'], ['b'], 2],
    [['a'], ['a'], 1],
  ] as const) {
    const stage = await Stage.open();
    let inside = 0;
    let peak = 0;
    const run = async () => {
      peak = Math.max(peak, ++inside);
      await new Promise((resolve) => setImmediate(resolve));
      inside -= 1;
      return 'ok';
    };
    stage.tools = { one: { run, sideBySide: first }, two: { run, sideBySide: second } };
    stage.script = [asksFor(['one', '{}'], ['two', '{}']), says('done')];
    await stage.hears('go');
    await stage.run();
    assert.equal(peak, most);
  }
});

test('a result that can not be stored ends the whole round: the calls beside it are cut short first', async () => {
  const stage = await Stage.open();
  let cut = false;
  stage.tools = {
    quick: { effect: 'read', run: () => 'quick' },
    long: {
      effect: 'read',
      run: (signal) =>
        new Promise((resolve) =>
          signal.addEventListener('abort', () => {
            cut = true;
            resolve('cut');
          }),
        ),
    },
  };
  stage.script = [asksFor(['quick', '{}'], ['long', '{}'])];
  await stage.hears('go');
  stage.beforeCommit = (writes) => {
    if (writes.some((write) => write.verb === 'settle-call')) throw new StoreError('disk-full', 'The disk is full.');
  };
  await assert.rejects(stage.run(), { reason: 'disk-full' });
  assert.equal(cut, true);
});

test('a result that is too long is kept in a file, and the model gets its beginning, its end and the path', async () => {
  const stage = await Stage.open();
  stage.tools['flood'] = { run: () => `start${'x'.repeat(200_000)}end` };
  stage.script = [asksFor(['flood', '{}']), says('done')];
  await stage.hears('go');
  await stage.run();
  const result = (await stage.told())[4] ?? '';
  assert.ok(result.length < 30_000);
  assert.match(
    result,
    /^result: finished: startx+\n\[… 176008 characters left out; all of it is in \/kept\/cal_\w+ …\]\nx+end$/,
  );
});

test('the same failing call is warned about from the second time on and ends the turn at the fifth', async () => {
  const stage = await Stage.open();
  stage.tools['broken'] = { run: () => Promise.reject(new Error('out of luck')) };
  stage.script = Array.from({ length: 9 }, () => asksFor(['broken', '{"a":1}']));
  await stage.hears('go');
  await stage.run();
  const results = (await stage.told()).filter((line) => line.startsWith('result'));
  assert.equal(results.length, 5);
  assert.doesNotMatch(results[0] ?? '', /has failed/);
  assert.match(results[1] ?? '', /This very call has failed 2 times in this turn\. Do something else\./);
  assert.deepEqual((await stage.told()).at(-1), 'closed: failed');
  assert.match((await stage.told()).at(-2) ?? '', /notice: The model kept repeating a call that fails/);
});

test('two hundred calls in one answer: the first are run, the rest are told why not', async () => {
  const stage = await Stage.open();
  stage.tools['look'] = { effect: 'read', run: () => 'seen' };
  stage.script = [
    asksFor(...Array.from({ length: 200 }, (_, index): [string, string] => ['look', `{"n":${index}}`])),
    says('done'),
  ];
  await stage.hears('go');
  await stage.run();
  const results = (await stage.told()).filter((line) => line.startsWith('result'));
  assert.equal(results.filter((line) => line === 'result: finished: seen').length, 64);
  assert.equal(results.filter((line) => line.includes('at most 64 calls')).length, 136);
});
