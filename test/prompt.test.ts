/** How prompts begin, as a user meets it: `talaria prompt`, SOUL.md, project files, and that sessions keep theirs. */
import assert from 'node:assert/strict';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import type { PromptReport } from '../src/protocol/api.ts';
import { startModelServer } from './model-server/model-server.ts';
import { atEnd, freshHome, runTalaria, startGateway } from './support/talaria-process.ts';

async function talaria(t: TestContext, home: string, ...args: string[]) {
  const finished = await runTalaria(t, args, { home });
  assert.equal(finished.code, 0, finished.stderr);
  return finished;
}

async function withModel(t: TestContext) {
  const server = await startModelServer();
  atEnd(t, () => server.close());
  const home = await freshHome(t);
  await mkdir(join(home, 'workspace'), { recursive: true, mode: 0o700 });
  const base_url = server.baseUrl('chat_completions');
  const model = { provider: 'custom', base_url, api_mode: 'chat_completions', name: 'm', api_key: 'k' };
  await writeFile(join(home, 'config.yaml'), JSON.stringify({ model }));
  const messages = (index: number) => {
    const sent = server.requests().at(index)?.body?.['messages'];
    assert.ok(Array.isArray(sent));
    return sent as { role: string; content: string }[];
  };
  return { server, home, messages };
}

const names = (report: PromptReport) => report.fresh.sections.map(({ name }) => name);

test('talaria prompt lists the sections of a new session with their sizes, and a fresh home’s are small', async (t) => {
  const home = await freshHome(t);
  const { stdout } = await talaria(t, home, 'prompt');
  for (const word of ['identity', 'how to work', 'notes on tools', 'project', 'skills', 'date', 'tools', 'in all'])
    assert.match(stdout, new RegExp(`^${word} +\\d+`, 'm'));
  const report = JSON.parse((await talaria(t, home, 'prompt', '--json')).stdout) as PromptReport;
  assert.deepEqual([report.session, report.frozen], [null, null]);
  assert.deepEqual(names(report), ['identity', 'how to work', 'notes on tools', 'project', 'skills', 'date']);
  const text = (await talaria(t, home, 'prompt', '--text')).stdout;
  assert.ok(Buffer.byteLength(text) <= 2_500);
  assert.ok((await readFile(join(home, 'SOUL.md'), 'utf8')).startsWith(text.split('\n')[0] ?? '-'));
});

test('C25 C93 a session keeps the prompt it began with; prompt --session says where a new one differs', async (t) => {
  const { home, messages } = await withModel(t);
  await talaria(t, home, '-p', 'one', '--session', 'x');
  await writeFile(join(home, 'SOUL.md'), 'You are Iris.');
  await writeFile(join(home, 'workspace', 'AGENTS.md'), 'Use tabs.');
  await talaria(t, home, '-p', 'two', '--session', 'x');
  assert.deepEqual(messages(-1).slice(0, 2), messages(0).slice(0, 2));
  await talaria(t, home, '-p', 'three', '--session', 'y');
  assert.match(messages(-1)[0]?.content ?? '', /^You are Iris\.[^]*<project-file path="AGENTS\.md">\nUse tabs\./);

  const told = await talaria(t, home, 'prompt', '--session', 'x');
  assert.match(told.stdout, /^identity +\d+ +You are Talaria/m);
  assert.match(told.stderr, /another section "identity"/);
  assert.match(told.stderr, /another section "project"/);
  assert.doesNotMatch(told.stderr, /another section "date"|other tools/);
  const same = await talaria(t, home, 'prompt', '--session', 'y');
  assert.match(same.stderr, /a new session would begin with the same/);

  await startGateway(t, { home });
  const remote = await talaria(t, home, 'prompt', '--session', 'x');
  assert.deepEqual([remote.stdout, remote.stderr], [told.stdout, told.stderr], 'the same while a gateway runs');
  const missing = await runTalaria(t, ['prompt', '--session', 'z'], { home });
  assert.deepEqual([missing.code, missing.stderr.includes('there is no session "z"')], [1, true]);
});

test('C85 what a subfolder says to agents comes with the first result from there, and is sent the same ever after', async (t) => {
  const { home, server, messages } = await withModel(t);
  await mkdir(join(home, 'workspace', 'web'));
  await writeFile(join(home, 'workspace', 'web', 'AGENTS.md'), 'Use pnpm here.');
  await writeFile(join(home, 'workspace', 'web', 'a.txt'), 'hello');
  const read = (path: string) => ({ name: 'read_file', arguments: JSON.stringify({ path }) });
  server.order({ reply: { calls: [read('web/a.txt')] } });
  server.order({ reply: { text: 'done' } });
  await talaria(t, home, '-p', 'read it', '--session', 'x');
  const result = messages(-1).find(({ role }) => role === 'tool')?.content ?? '';
  assert.match(result, /hello[^]*<project-file path="web\/AGENTS\.md">\nUse pnpm here\.\n<\/project-file>/);

  const before = messages(-1);
  await writeFile(join(home, 'workspace', 'web', 'AGENTS.md'), 'Use something else.');
  server.order({ reply: { calls: [read('web/a.txt')] } });
  server.order({ reply: { text: 'done' } });
  await talaria(t, home, '-p', 'read it again', '--session', 'x');
  const after = messages(-1);
  assert.deepEqual(after.slice(0, before.length), before);
  assert.equal(after.filter(({ content }) => JSON.stringify(content ?? '').includes('project-file path')).length, 1);
});
