import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Stage, asksFor, says } from './test-stage.ts';
import { ActionCut } from './turn-deps.ts';

test('C84 a call that takes the process down is kept, with the results before it, and counts as done if that was its purpose', async () => {
  for (const [effect, outcome] of [
    ['self', 'finished: Done: Talaria was interrupted by it, as it was meant to be.'],
    ['write', 'unknown: Talaria was interrupted while this ran.'],
  ] as const) {
    const stage = await Stage.open();
    let times = 0;
    stage.tools = {
      before: { run: () => 'first' },
      restart: {
        effect,
        run: () => {
          times += 1;
          stage.dies();
          return 'never seen';
        },
      },
    };
    stage.script = [asksFor(['before', '{}'], ['restart', '{}']), says('back again')];
    await stage.hears('restart');
    await assert.rejects(stage.run(), /dead/);
    stage.livesAgain();
    await stage.run();
    const told = await stage.told();
    assert.deepEqual(told.slice(4, 5), ['result: finished: first']);
    assert.ok(told[5]?.startsWith(`result: ${outcome}`), told.join(' | '));
    assert.deepEqual([times, told.at(-1)], [1, 'closed: answered']);
  }
});

test('C92 a call that lives on is taken up again after a crash, and its result is what it came to', async () => {
  const stage = await Stage.open();
  stage.tools['job'] = {
    replay: 'attach',
    run: () => {
      stage.dies();
      return 'lost with the process';
    },
    attach: () => Promise.resolve({ kind: 'finished', text: 'what it came to' }),
  };
  stage.script = [asksFor(['job', '{}']), says('done')];
  await stage.hears('go');
  await assert.rejects(stage.run(), /dead/);
  stage.livesAgain();
  await stage.run();
  assert.deepEqual((await stage.told()).slice(4), [
    'result: finished: what it came to',
    'assistant: done',
    'closed: answered',
  ]);
  assert.equal(stage.history.filter((line) => line === 'run job').length, 1);
});

test('leaving does not end what can be taken up again: the call stays started, and the next process attaches', async () => {
  const stage = await Stage.open();
  let ended = false;
  stage.tools['job'] = {
    replay: 'attach',
    run: (signal) => {
      signal.addEventListener('abort', () => (ended = true));
      queueMicrotask(() => {
        stage.leaving.abort(new ActionCut('leave'));
        stage.action.abort(new ActionCut('leave'));
      });
      return new Promise(() => {});
    },
    attach: () => Promise.resolve({ kind: 'finished', text: 'what it came to' }),
  };
  stage.script = [asksFor(['job', '{}']), says('done')];
  await stage.hears('go');
  assert.equal(await stage.run(), 'left');
  assert.equal(ended, false);
  const again = stage.nextProcess();
  assert.equal(await again.run(), 'rested');
  assert.deepEqual((await stage.told()).slice(4), [
    'result: finished: what it came to',
    'assistant: done',
    'closed: answered',
  ]);
});

test('a stop after a crash ends what lived on, and keeps what it came to', async () => {
  const stage = await Stage.open();
  stage.tools['job'] = {
    replay: 'attach',
    run: () => {
      stage.dies();
      return '';
    },
    attach: (signal) => Promise.resolve({ kind: 'failed', text: signal.aborted ? 'ended' : 'left running' }),
  };
  stage.script = [asksFor(['job', '{}'])];
  await stage.hears('go');
  await assert.rejects(stage.run(), /dead/);
  stage.livesAgain();
  await stage.store.requestStop(stage.sessionId);
  await stage.run();
  assert.deepEqual((await stage.told()).slice(4), ['result: failed: ended', 'closed: stopped']);
});

test('a call whose tool is gone after a crash is unknown, not a mistake', async () => {
  const stage = await Stage.open();
  stage.tools['job'] = {
    replay: 'attach',
    run: () => {
      stage.dies();
      return '';
    },
  };
  stage.script = [asksFor(['job', '{}']), says('done')];
  await stage.hears('go');
  await assert.rejects(stage.run(), /dead/);
  stage.livesAgain();
  stage.tools = {};
  await stage.run();
  assert.match((await stage.told())[4] ?? '', /^result: unknown/);
});
