/** A turn that takes the gateway down again and again: parked after the third time, and then in people's hands. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SessionSummary } from '../src/protocol/api.ts';
import type { SessionEvent } from '../src/protocol/events.ts';
import { ask, follow, isClosed, post, say, told } from './support/http.ts';
import { crashes, poisonedHome } from './support/poisoned-home.ts';
import { freshHome, runTalaria, startGateway } from './support/talaria-process.ts';

/** True at the n-th end of a turn. */
function closedTimes(count: number): (event: SessionEvent) => boolean {
  let closed = 0;
  return (event) => isClosed(event) && ++closed === count;
}

async function stateOf(url: string, session: string): Promise<SessionSummary['state']> {
  return (JSON.parse((await ask(`${url}/api/sessions/${session}`)).text) as SessionSummary).state;
}

test('C90 a turn that takes the process down three times is parked with a notice, and others go on', async (t) => {
  const home = await freshHome(t);
  for (let life = 1; life <= crashes; life++) {
    const gateway = await startGateway(t, { home });
    await say(gateway.url, 'y', `hello ${life}`, `y${life}`);
    assert.equal(told(await follow(gateway.url, 'y', closedTimes(life))).at(-1), 'closed: answered');
    if (life === 1) await say(gateway.url, 'x', 'slowly count to 20', 'm1');
    await follow(gateway.url, 'x', (event) => {
      if (event.kind === 'text-delta') gateway.process.kill('SIGKILL');
      return false;
    });
    assert.equal((await gateway.process.ended).signal, 'SIGKILL');
  }
  const gateway = await startGateway(t, { home });
  const log = told(await follow(gateway.url, 'x', isClosed));
  assert.match(log.at(-2) ?? '', /^notice: .*parked/);
  assert.deepEqual([log.at(-1), await stateOf(gateway.url, 'x')], ['closed: parked', 'parked']);
  await say(gateway.url, 'y', 'still there?', 'y4');
  assert.equal(told(await follow(gateway.url, 'y', closedTimes(crashes + 1))).at(-1), 'closed: answered');

  assert.match((await runTalaria(t, ['sessions', 'list'], { home })).stdout, /^x +parked /m);
  const retried = await runTalaria(t, ['sessions', 'retry', 'x'], { home });
  assert.deepEqual([retried.code, retried.stdout], [0, '']);
  assert.match(retried.stderr, /the parked turn of "x" is tried again/);
  const again = told(await follow(gateway.url, 'x', closedTimes(2)));
  assert.equal(again.at(-1), 'closed: answered');
  assert.equal(again.filter((line) => line.startsWith('user')).length, 1);
  assert.equal(again.filter((line) => line.startsWith('assistant')).length, 1);
  const nothing = await runTalaria(t, ['sessions', 'retry', 'x'], { home });
  assert.equal(nothing.code, 1);
  assert.match(nothing.stderr, /no turn is parked in "x"; see talaria sessions list/);
});

test('a parked turn can be given up, and the conversation goes on', async (t) => {
  const home = await poisonedHome(t);
  const gateway = await startGateway(t, { home });
  await follow(gateway.url, 'x', isClosed);
  const parked = `${gateway.url}/api/sessions/x/parked`;
  assert.equal((await post(parked, { action: 'forget' })).status, 400);
  assert.equal((await post(`${gateway.url}/api/sessions/z/parked`, { action: 'drop' })).status, 404);
  assert.equal(await stateOf(gateway.url, 'x'), 'parked');
  assert.deepEqual(JSON.parse((await post(parked, { action: 'drop' })).text), { done: true });
  assert.deepEqual(JSON.parse((await post(parked, { action: 'drop' })).text), { done: false });
  assert.equal(await stateOf(gateway.url, 'x'), 'idle');
  const dropped = await runTalaria(t, ['sessions', 'drop', 'x'], { home });
  assert.equal(dropped.code, 1);
  await say(gateway.url, 'x', 'and now?', 'm2');
  assert.equal(told(await follow(gateway.url, 'x', closedTimes(2))).at(-1), 'closed: answered');
});

test('without a gateway a parked turn is tried again by the command itself', async (t) => {
  const home = await poisonedHome(t);
  const gateway = await startGateway(t, { home });
  await follow(gateway.url, 'x', isClosed);
  assert.equal((await gateway.stop()).code, 0);
  const retried = await runTalaria(t, ['sessions', 'retry', 'x'], { home });
  assert.deepEqual([retried.code, retried.stdout], [0, '']);
  assert.match(retried.stderr, /it ended: answered; read it with: talaria sessions show "x"/);
  const missing = await runTalaria(t, ['sessions', 'drop', 'nowhere'], { home });
  assert.equal(missing.code, 1);
  assert.match(missing.stderr, /there is no session "nowhere"/);
});
