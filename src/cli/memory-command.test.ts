import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { createStyle } from '../tui/style.ts';
import { parseArguments } from './arguments.ts';
import { commands } from './command-table.ts';
import type { CommandContext } from './command.ts';
import type { Streams } from './streams.ts';

async function setUp(t: test.TestContext, files: Readonly<Record<string, string>>) {
  const home = await mkdtemp(join(tmpdir(), 'talaria-memory-'));
  t.after(() => rm(home, { recursive: true }));
  for (const [name, text] of Object.entries(files)) {
    await mkdir(join(home, 'memories', name, '..'), { recursive: true });
    await writeFile(join(home, 'memories', name), text);
  }
  const run = async (...words: string[]) => {
    const printed: string[] = [];
    const notes: string[] = [];
    const streams = {
      stdinIsTty: false,
      stdoutIsTty: false,
      outStyle: createStyle(false),
      write: (data: string) => Promise.resolve(void printed.push(data)),
      note: (line: string) => notes.push(line),
    } as unknown as Streams;
    const context = { streams, env: { TALARIA_HOME: home, EDITOR: 'false' } } as unknown as CommandContext;
    const parsed = parseArguments(commands, ['memory', ...words]);
    assert.ok(parsed.kind === 'command', JSON.stringify(parsed));
    await (
      await parsed.command.load()
    )(context, parsed.input);
    return [printed.join(''), ...notes];
  };
  return { home, run, file: (name: string) => readFile(join(home, 'memories', name), 'utf8') };
}

test('list prints the files with how full they are, and names who else has some', async (t) => {
  const { home, run } = await setUp(t, { 'MEMORY.md': '- tea\n', 'people/telegram_3a_7/USER.md': '- theirs\n' });
  assert.deepEqual(await run('list'), [
    `${home}/memories/MEMORY.md (6 of 4000 characters)\n- tea\n\n`,
    'others, with --user: telegram:7',
  ]);
  assert.deepEqual(await run('list', '--user', 'telegram:7'), [
    `${home}/memories/people/telegram_3a_7/USER.md (9 of 2000 characters)\n- theirs\n\n`,
  ]);
  assert.deepEqual((await run('list', '--user', 'nobody'))[1], 'nothing is remembered yet');
});

test('search finds entries of the archive too, and nothing of somebody else', async (t) => {
  const { run } = await setUp(t, {
    'MEMORY.md': '- likes tea\n',
    'ARCHIVE.md': '- liked teaspoons\n',
    'people/telegram_3a_7/MEMORY.md': '- tea of another\n',
  });
  assert.deepEqual(await run('search', 'tea'), ['MEMORY.md: likes ‹tea›\nARCHIVE.md: liked ‹tea›spoons\n']);
  assert.deepEqual(await run('search', 'another'), ['', 'nothing found']);
});

test('forget removes the one entry that is meant, wherever it is, and nothing else', async (t) => {
  const { run, file } = await setUp(t, {
    'MEMORY.md': '# Mine\n- likes tea (from web)\n- likes cake\ntea\n',
    'ARCHIVE.md': '- likes tea\n',
  });
  await assert.rejects(run('forget', 'likes'), { message: /several entries.*"likes tea", "likes cake"/ });
  await assert.rejects(run('forget', 'coffee'), { message: /no entry has these words/ });
  await assert.rejects(run('forget', 'tea', '--user', 'telegram:1'), { message: /no entry has these words/ });
  await assert.rejects(file('people'), { code: 'ENOENT' });
  assert.deepEqual(await run('forget', 'likes', 'tea'), ['forgotten, from MEMORY.md and ARCHIVE.md: likes tea\n']);
  assert.deepEqual([await file('MEMORY.md'), await file('ARCHIVE.md')], ['# Mine\n- likes cake\ntea\n', '']);
});

test('forget takes an entry by its whole text or as it is listed, and no words for no entry', async (t) => {
  const { run, file } = await setUp(t, { 'MEMORY.md': '- likes tea\n', 'USER.md': '- likes tea with milk\n' });
  for (const nothing of ['', ' ', '- ']) {
    await assert.rejects(run('forget', '--', nothing), { message: /no entry has these words/ });
  }
  assert.deepEqual(await run('forget', '--', '- likes tea'), ['forgotten, from MEMORY.md: likes tea\n']);
  assert.deepEqual(await run('forget', 'milk'), ['forgotten, from USER.md: likes tea with milk\n']);
  assert.deepEqual([await file('MEMORY.md'), await file('USER.md')], ['', '']);
});

test('edit prints the path where nobody can edit', async (t) => {
  const { home, run } = await setUp(t, {});
  assert.deepEqual(await run('edit'), [`${home}/memories/MEMORY.md\n`]);
  assert.deepEqual(await run('edit', 'USER.md'), [`${home}/memories/USER.md\n`]);
  await assert.rejects(run('edit', 'toString'), { message: 'FILE is memory, user or archive' });
});
