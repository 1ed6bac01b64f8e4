/** Approvals from outside: a model that wants out of the sandbox, the real program, and a person who says yes or no. */
import assert from 'node:assert/strict';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import type { SessionEvent } from '../src/protocol/events.ts';
import type { OpenQuestion } from '../src/protocol/messages.ts';
import type { ModelCallRecord } from '../src/protocol/usage.ts';
import { temporaryFolder } from '../src/tools/fake-tool-context.ts';
import { startModelServer } from './model-server/model-server.ts';
import { ask, follow, isClosed, post, say, told } from './support/http.ts';
import { atEnd, freshHome, startGateway } from './support/talaria-process.ts';

interface Asked {
  readonly text: string;
  readonly question: OpenQuestion;
}

/** A gateway whose model does as it is told, and a folder outside of everything that it may touch. */
async function place(t: TestContext, approvals: object = {}) {
  const server = await startModelServer();
  atEnd(t, () => server.close());
  const home = await freshHome(t);
  await mkdir(home, { mode: 0o700 });
  const model = { provider: 'custom', base_url: server.baseUrl('chat_completions'), name: 'scripted', api_key: 'k' };
  await writeFile(join(home, 'config.yaml'), JSON.stringify({ model, approvals }));
  const outside = await temporaryFolder(t);
  const marks = () => readFile(join(outside, 'marks'), 'utf8').catch(() => '');
  const mark = (word: string) => `echo ${word} >> ${outside}/marks`;
  const wants = (command: string) => `call terminal ${JSON.stringify({ command, outside: true })}`;
  return { home, marks, mark, wants, start: async () => (await startGateway(t, { home })).url };
}

/** Says it and waits until somebody is asked or the turn is over. */
async function until(url: string, words: string, id: string): Promise<{ asked: Asked | null; log: string[] }> {
  await say(url, 'x', words, id);
  return following(url, id);
}

async function following(url: string, id: string): Promise<{ asked: Asked | null; log: string[] }> {
  const number = Number(id.replaceAll(/\D/g, ''));
  let turns = 0;
  const events = await follow(url, 'x', (event) => {
    if (event.kind === 'entry' && event.entry.kind === 'turn-opened') turns++;
    return turns === number && (isClosed(event) || questionIn(event) !== null);
  });
  const last = events.at(-1);
  return { asked: last === undefined ? null : questionIn(last), log: told(events) };
}

function questionIn(event: SessionEvent): Asked | null {
  if (event.kind !== 'entry' || event.entry.kind !== 'notice' || event.entry.question === undefined) return null;
  return { text: event.entry.text, question: event.entry.question };
}

async function answer(url: string, asked: Asked | null, text: string, id: string): Promise<string[]> {
  assert.ok(asked !== null, 'nobody was asked');
  const { callId } = asked.question;
  assert.equal((await post(`${url}/api/sessions/x/answers`, { callId, text })).status, 200);
  let turns = 0;
  const number = Number(id.replaceAll(/\D/g, ''));
  const events = await follow(url, 'x', (event) => isClosed(event) && ++turns === number);
  return told(events);
}

test('what leaves the sandbox asks, shows exactly what it is, and does nothing until somebody says yes', async (t) => {
  const { marks, mark, wants, start } = await place(t);
  const url = await start();
  const { asked } = await until(url, wants(`${mark('one')} # \u202egnp.exe`), 'm1');
  assert.ok(asked !== null);
  assert.deepEqual(
    { choices: asked.question.choices, isApproval: asked.question.isApproval, hasPlan: 'plan' in asked.question },
    { choices: ['Once', 'This session', 'Always', 'No'], isApproval: true, hasPlan: false },
  );
  assert.match(asked.text, /echo one >> /);
  assert.doesNotMatch(asked.text, /\u202e/, 'what can not be seen is spelled out');
  assert.equal(await marks(), '');
  const refused = await answer(url, asked, 'No', 'm1');
  assert.ok(refused.includes('result: failed'), refused.join(' | '));
  assert.equal(await marks(), '');

  const again = await until(url, wants(mark('two')), 'm2');
  await answer(url, again.asked, 'Once', 'm2');
  assert.equal(await marks(), 'two\n');
  const thrice = await until(url, wants(mark('two')), 'm3');
  assert.ok(thrice.asked !== null, 'once is once');
  await answer(url, thrice.asked, 'This session', 'm3');
  const fourth = await until(url, wants(mark('two')), 'm4');
  assert.equal(fourth.asked, null);
  assert.equal(await marks(), 'two\ntwo\ntwo\n');
  const other = await until(url, wants(mark('three')), 'm5');
  assert.ok(other.asked !== null, 'another command is another permission');
});

test('C87 C88 killed while it waits, the question is still there, and a yes runs it once', async (t) => {
  const { marks, mark, wants, start, home } = await place(t);
  const first = await startGateway(t, { home });
  await until(first.url, wants(mark('one')), 'm1');
  first.process.kill('SIGKILL');
  await first.process.ended;
  assert.equal(await marks(), '');
  const url = await start();
  const { asked } = await following(url, 'm1');
  const log = await answer(url, asked, 'Once', 'm1');
  assert.ok(log.includes('result: finished'), log.join(' | '));
  assert.equal(await marks(), 'one\n');
});

test('nobody who answers in time is a no', async (t) => {
  const { marks, mark, wants, start } = await place(t, { timeout_s: 1 });
  const url = await start();
  await until(url, wants(mark('one')), 'm1');
  const log = told(await follow(url, 'x', isClosed));
  assert.ok(log.includes('result: failed'), log.join(' | '));
  assert.equal(await marks(), '');
});

test('mode off asks nobody, and what must never happen is refused all the same', async (t) => {
  const { marks, mark, wants, start } = await place(t, { mode: 'off' });
  const url = await start();
  assert.equal((await until(url, wants(mark('one')), 'm1')).asked, null);
  assert.equal(await marks(), 'one\n');
  const { asked, log } = await until(url, wants('x=rm; $x -rf / --no-preserve-root'), 'm2');
  assert.equal(asked, null);
  assert.ok(log.includes('result: failed'), log.join(' | '));
});

test('mode smart asks its model first, which is paid for like any, and a person when it is not sure', async (t) => {
  const { marks, mark, wants, start } = await place(t, { mode: 'smart' });
  const url = await start();
  const { asked } = await until(url, wants(mark('one')), 'm1');
  assert.ok(asked !== null);
  assert.equal(await marks(), '');
  const { calls } = JSON.parse((await ask(`${url}/api/sessions/x/model-calls`)).text) as { calls: ModelCallRecord[] };
  assert.deepEqual(
    calls.map(({ purpose, state }) => `${purpose} ${state}`),
    ['answer completed', 'approval completed'],
  );
});
