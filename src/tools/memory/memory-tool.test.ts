import assert from 'node:assert/strict';
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'node:test';
import { fakeToolContext, temporaryFolder } from '../fake-tool-context.ts';
import { createMemoryTool } from './memory-tool.ts';

async function memory(t: test.TestContext, before?: string) {
  const folder = join(await temporaryFolder(t), 'memories');
  const path = join(folder, 'MEMORY.md');
  if (before !== undefined) {
    await mkdir(folder);
    await writeFile(path, before);
  }
  const tool = createMemoryTool({ folder });
  const add = (text: string) => tool.run({ action: 'add', text }, fakeToolContext(folder));
  return { path, tool, add, content: () => readFile(path, 'utf8') };
}

const finished = (text: string) => ({ kind: 'finished', text });
const failed = (text: string) => ({ kind: 'failed', text });

test('a fact becomes a line, and the result says which', async (t) => {
  const { add, content, path } = await memory(t);
  assert.deepEqual(await add('Ada prefers tea'), finished('Stored in memory: - Ada prefers tea'));
  assert.deepEqual(await add('Her cat is called Byron'), finished('Stored in memory: - Her cat is called Byron'));
  assert.equal(await content(), '- Ada prefers tea\n- Her cat is called Byron\n');
  assert.equal((await stat(path)).mode & 0o777, 0o600);
});

test('an entry is one line of plain text', async (t) => {
  const { add, content } = await memory(t);
  assert.deepEqual(
    await add('  first\n\n# second\t\u001b[31mred\u0000 \ud800 '),
    finished('Stored in memory: - first # second red �'),
  );
  assert.equal(await content(), '- first # second red �\n');
});

test('the same fact is not stored twice', async (t) => {
  const { add, content } = await memory(t);
  await add('Ada prefers tea');
  assert.deepEqual(await add(' Ada  prefers tea '), finished('Already in memory: - Ada prefers tea'));
  assert.equal(await content(), '- Ada prefers tea\n');
});

test('what the owner wrote by hand stays as it is', async (t) => {
  const { add, content } = await memory(t, '# Mine\r\n- Ada prefers tea\r\nno newline at the end');
  assert.deepEqual(await add('Ada prefers tea'), finished('Already in memory: - Ada prefers tea'));
  await add('new');
  assert.equal(await content(), '# Mine\r\n- Ada prefers tea\r\nno newline at the end\n- new\n');
});

test('an empty or too long fact is refused', async (t) => {
  const { add, content } = await memory(t);
  assert.deepEqual(await add(' \n '), failed('There is nothing to remember: the text is empty.'));
  assert.deepEqual(
    await add('x'.repeat(501)),
    failed('Nothing was stored: the text has 501 characters, and an entry at most 500.'),
  );
  await assert.rejects(content());
  assert.equal((await add('x'.repeat(500))).kind, 'finished');
});

test('a full memory takes nothing more, says so, and stays as it was', async (t) => {
  const { add, content, path } = await memory(t, `${'x'.repeat(3_990)}\n`);
  assert.deepEqual(
    await add('1234567'),
    failed(`Nothing was stored: memory is full (3991 of 4000 characters). The user can shorten ${path} by hand.`),
  );
  assert.equal(await content(), `${'x'.repeat(3_990)}\n`);
  assert.deepEqual(await add('123456'), finished('Stored in memory: - 123456'));
  assert.equal((await content()).length, 4_000);
});

test('facts added at the same time are all stored', async (t) => {
  const { add, content } = await memory(t);
  const facts = Array.from({ length: 30 }, (_, index) => `fact ${index}`);
  await Promise.all(facts.map(add));
  assert.equal(await content(), facts.map((fact) => `- ${fact}\n`).join(''));
});

test('a memory that can not be written is told, and does not block the next', async (t) => {
  const { add, path } = await memory(t);
  await mkdir(path, { recursive: true });
  const text = `Nothing was stored: ${path} can't be changed: it is a folder.`;
  assert.deepEqual(await Promise.all([add('a'), add('b')]), [failed(text), failed(text)]);
});

test('only adding is known', async (t) => {
  const { tool } = await memory(t);
  assert.deepEqual(tool.parse({ action: 'forget', text: 'x' }), { ok: false, problem: '`action` must be "add".' });
  assert.deepEqual([tool.definition.name, tool.effect, tool.replay], ['memory', 'write', 'never']);
});
