/**
 * The real gateway, really killed, looked at one turn at a time: what was acknowledged is answered, once, and nothing
 * silently runs twice. `chaos.test.ts` does the same to many turns at once.
 */
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SessionEvent } from '../src/protocol/events.ts';
import { pidsWith } from '../src/tools/terminal/test-processes.ts';
import { follow, isClosed, post, say, told } from './support/http.ts';
import { freshHome, startGateway } from './support/talaria-process.ts';

/** Sends, kills the gateway when `when` is true of an event, starts another one and follows the turn to its end. */
async function killAt(t: TestContext, words: string, when: (event: SessionEvent, count: number) => boolean) {
  const home = await freshHome(t);
  const first = await startGateway(t, { home });
  await say(first.url, 'x', words, 'm1');
  let count = 0;
  let isKilled = false;
  let before: SessionEvent['kind'] | null = null;
  await follow(first.url, 'x', (event) => {
    // One piece of an answer is like the next.
    const isMoment = event.kind !== 'text-delta' || before !== 'text-delta';
    before = event.kind;
    if (isMoment && !isKilled && when(event, count++)) {
      first.process.kill('SIGKILL');
      isKilled = true;
    }
    return isClosed(event) && !isKilled;
  });
  if (!isKilled) first.process.kill('SIGKILL');
  await first.process.ended;
  return { home, isKilled, ...(await goOn(t, home)) };
}

/** Lets the gateway die at a point of its own (see `src/app/fault-points.ts`), and then as above. */
async function dieAt(t: TestContext, words: string, fault: string) {
  const home = await freshHome(t);
  const first = await startGateway(t, { home, env: { TALARIA_FAULT: fault } });
  // The answer may be lost with the process.
  await say(first.url, 'x', words, 'm1').catch(() => {});
  assert.equal((await first.process.ended).signal, 'SIGKILL');
  return { home, ...(await goOn(t, home)) };
}

async function goOn(t: TestContext, home: string) {
  const second = await startGateway(t, { home });
  const events = await follow(second.url, 'x', isClosed);
  return { second, log: told(events), results: events.flatMap(resultOf) };
}

function resultOf(event: SessionEvent): string[] {
  if (event.kind !== 'entry' || event.entry.kind !== 'message' || event.entry.message.role !== 'tool') return [];
  return [event.entry.message.parts[0].text];
}

const contentOf = (...path: string[]): Promise<string> => readFile(join(...path), 'utf8').catch(() => '');

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

test('C88 a call that was done when the process died, and can not be taken up, is told as unknown and not done again', async (t) => {
  const { home, log } = await dieAt(t, 'remember that the sky is green', 'before:settle-call');
  assert.deepEqual(log.slice(-3, -2), ['result: unknown'], log.join(' | '));
  assert.equal(log.at(-1), 'closed: answered');
  const memory = await contentOf(home, 'memories', 'MEMORY.md');
  assert.equal(memory.split('the sky is green').length - 1, 1, memory);
});

test('C88 C92 a command whose start is stored and that never began is begun, once', async (t) => {
  const { home, log } = await dieAt(t, 'run echo once >> ran.txt', 'after:start-call');
  assert.ok(log.includes('result: finished'), log.join(' | '));
  assert.equal(await contentOf(home, 'workspace', 'ran.txt'), 'once\n');
});

test('C92 a command that runs while the process dies goes on, and the turn takes it up again', async (t) => {
  const words = 'run echo first; sleep 1; echo once >> ran.txt; echo last';
  const { home, log, results } = await killAt(t, words, (event) => event.kind === 'call-output');
  assert.deepEqual(results, ['first\nlast'], log.join(' | '));
  assert.ok(log.includes('result: finished'), log.join(' | '));
  assert.equal(log.at(-1), 'closed: answered');
  assert.equal(await contentOf(home, 'workspace', 'ran.txt'), 'once\n');
});

test('C92 a command that ended before its result was stored is not run again: its result is found', async (t) => {
  const { home, results } = await dieAt(t, 'run echo once >> ran.txt; echo done', 'before:settle-call');
  assert.deepEqual(results, ['done']);
  assert.equal(await contentOf(home, 'workspace', 'ran.txt'), 'once\n');
});

test('C84 a killed round keeps what had finished, and goes on with the rest', async (t) => {
  const words = 'run echo one >> ran.txt and run echo two >> ran.txt at once';
  const { home, log } = await dieAt(t, words, 'before:start-call:2');
  assert.deepEqual(
    log.filter((line) => line.startsWith('result')),
    ['result: finished', 'result: finished'],
  );
  assert.equal(await contentOf(home, 'workspace', 'ran.txt'), 'one\ntwo\n');
});

test('C92 a stop that was stored when the process died ends the command that went on', async (t) => {
  const home = await freshHome(t);
  const first = await startGateway(t, { home, env: { TALARIA_FAULT: 'after:requestStop' } });
  const seconds = randomInt(100_000, 1_000_000);
  await say(first.url, 'x', `run echo begun; sleep ${seconds}`, 'm1');
  await follow(first.url, 'x', (event) => event.kind === 'call-output');
  const sleeping = () => pidsWith(`sleep\0${seconds}\0`);
  while ((await sleeping()).length === 0) await sleep(10);
  // It dies before it answers.
  await post(`${first.url}/api/sessions/x/stop`, {}).catch(() => {});
  await first.process.ended;
  assert.equal((await sleeping()).length, 1);
  const { log } = await goOn(t, home);
  assert.equal(log.at(-1), 'closed: stopped', log.join(' | '));
  assert.deepEqual(await sleeping(), []);
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
