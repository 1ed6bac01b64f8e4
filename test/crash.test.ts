/** The real gateway, really killed: what was acknowledged is answered, once, and nothing silently runs twice. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import type { SessionEvent } from '../src/protocol/events.ts';
import { follow, isClosed, say, told } from './support/http.ts';
import { freshHome, startGateway } from './support/talaria-process.ts';

/** Sends, kills the gateway when `when` is true of an event, starts another one and follows the turn to its end. */
async function killAt(t: TestContext, words: string, when: (event: SessionEvent, count: number) => boolean) {
  const home = await freshHome(t);
  const first = await startGateway(t, { home });
  await say(first.url, 'x', words, 'm1');
  let count = 0;
  let isKilled = false;
  await follow(first.url, 'x', (event) => {
    if (!isKilled && when(event, count++)) {
      first.process.kill('SIGKILL');
      isKilled = true;
    }
    return isClosed(event) && !isKilled;
  });
  if (!isKilled) first.process.kill('SIGKILL');
  await first.process.ended;
  const second = await startGateway(t, { home });
  const events = await follow(second.url, 'x', isClosed);
  return { home, second, isKilled, log: told(events) };
}

test('C87 killed at the n-th event of a turn, for every n: answered once after the restart', async (t) => {
  for (let moment = 0; ; moment++) {
    const { isKilled, second, log } = await killAt(t, 'run echo hi', (_event, count) => count === moment);
    const at = `event ${moment}: ${log.join(' | ')}`;
    assert.equal(log.filter((line) => line.startsWith('closed')).length, 1, at);
    assert.equal(log.filter((line) => line.startsWith('user')).length, 1, at);
    assert.equal(log.at(-1), 'closed: answered', at);
    assert.equal((await second.stop()).code, 0, at);
    if (!isKilled) {
      assert.ok(moment >= 8, `a turn has only ${moment} events`);
      return;
    }
  }
});

test('C88 a command that ran when the process died is marked unknown and not run again', async (t) => {
  const { home, log } = await killAt(t, 'run echo once >> ran.txt; sleep 2', (event) => event.kind === 'call-started');
  assert.ok(log.includes('result: unknown'), log.join(' | '));
  assert.equal(log.at(-1), 'closed: answered');
  const ran = await readFile(join(home, 'workspace', 'ran.txt'), 'utf8').catch(() => '');
  assert.ok(ran === '' || ran === 'once\n', `it ran more than once: ${ran}`);
});

test('a message sent again after a crash, because its receipt was lost, is answered once', async (t) => {
  const home = await freshHome(t);
  const first = await startGateway(t, { home });
  const receipt = await say(first.url, 'x', 'hello', 'm1');
  first.process.kill('SIGKILL');
  await first.process.ended;
  const second = await startGateway(t, { home });
  const again = await say(second.url, 'x', 'hello', 'm1');
  assert.deepEqual([again.inboxId, again.duplicate], [receipt.inboxId, true]);
  const log = told(await follow(second.url, 'x', isClosed));
  assert.equal(log.filter((line) => line.startsWith('user')).length, 1);
});

test('SIGTERM in mid-turn exits 0 with the turn left open, and the next start goes on without counting a crash', async (t) => {
  const home = await freshHome(t);
  const first = await startGateway(t, { home });
  await say(first.url, 'x', 'slowly count to 40', 'm1');
  await follow(first.url, 'x', (event) => event.kind === 'text-delta');
  const { code } = await first.stop();
  assert.equal(code, 0);
  const second = await startGateway(t, { home });
  const log = told(await follow(second.url, 'x', isClosed));
  assert.equal(log.filter((line) => line.startsWith('assistant')).length, 1);
  assert.equal(log.at(-1), 'closed: answered');
});
