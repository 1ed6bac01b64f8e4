import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, open, realpath, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'node:test';
import { promisify } from 'node:util';
import { fakeToolContext, temporaryFolder } from '../fake-tool-context.ts';
import { createReadFileTool } from './read-file-tool.ts';
import { plainFileDeps } from './test-file-deps.ts';

type Files = Readonly<Record<string, string | Uint8Array>>;

async function reader(t: test.TestContext, files: Files = {}) {
  const workspace = await temporaryFolder(t);
  for (const [name, content] of Object.entries(files)) {
    await mkdir(join(workspace, name, '..'), { recursive: true });
    await writeFile(join(workspace, name), content);
  }
  const tool = createReadFileTool(plainFileDeps);
  const read = (path: string, window: { offset?: number; limit?: number } = {}) =>
    tool.run({ path, ...window }, fakeToolContext(workspace));
  return { workspace, read };
}

const finished = (text: string) => ({ kind: 'finished', text });
const failed = (text: string) => ({ kind: 'failed', text });
const numbered = (count: number) => Array.from({ length: count }, (_, index) => `line ${index + 1}\n`).join('');

test('a file is returned exactly as it is', async (t) => {
  const text = '\ufefffirst\r\n\tsecond \u001b[31m😀\n\nno newline at the end';
  const { read } = await reader(t, { 'notes/a.txt': text });
  assert.deepEqual(await read('notes/a.txt'), finished(text));
});

test('an empty file is said to be empty', async (t) => {
  const { read } = await reader(t, { 'a.txt': '' });
  assert.deepEqual(await read('a.txt'), finished('[a.txt is empty]'));
});

test('a window of lines says which lines they are and how to go on', async (t) => {
  const { read } = await reader(t, { 'a.txt': numbered(10) });
  const range = (from: number, to: number) =>
    numbered(10)
      .split(/(?<=\n)/)
      .slice(from - 1, to)
      .join('');
  assert.deepEqual(
    await read('a.txt', { offset: 3, limit: 2 }),
    finished(`[lines 3 to 4 of a.txt, which has 71 bytes; go on with offset 5]\n${range(3, 4)}`),
  );
  assert.deepEqual(
    await read('a.txt', { limit: 1 }),
    finished(`[line 1 of a.txt, which has 71 bytes; go on with offset 2]\n${range(1, 1)}`),
  );
  assert.deepEqual(
    await read('a.txt', { offset: 9 }),
    finished(`[lines 9 to 10 of a.txt, up to its end]\n${range(9, 10)}`),
  );
  assert.deepEqual(await read('a.txt', { limit: 10 }), finished(numbered(10)));
});

test('a line after the last one does not exist', async (t) => {
  const { read } = await reader(t, { 'ends.txt': 'a\nb\n', 'open.txt': 'a\nb' });
  for (const path of ['ends.txt', 'open.txt']) {
    assert.deepEqual(await read(path, { offset: 3 }), failed(`${path} has 2 lines; there is no line 3.`));
    assert.deepEqual(await read(path, { offset: 900 }), failed(`${path} has 2 lines; there is no line 900.`));
  }
});

test('a long file is cut at 2,000 lines, and can be read to its end by going on', async (t) => {
  const { read } = await reader(t, { 'long.txt': numbered(4_500) });
  let text = '';
  let next: number | null = 1;
  while (next !== null) {
    const outcome = await read('long.txt', { offset: next, limit: 1_000_000 });
    const [, header = '', body = ''] = /^\[(.*)\]\n([^]*)$/.exec(outcome.text) ?? [];
    text += body;
    const goOn = /offset (\d+)/.exec(header);
    next = goOn === null ? null : Number(goOn[1]);
  }
  assert.equal(text, numbered(4_500));
});

test('a window is cut at 100,000 bytes too, after a whole line', async (t) => {
  const { read } = await reader(t, { 'wide.txt': `${'é'.repeat(15_000)}\n`.repeat(10) });
  const { text } = await read('wide.txt');
  assert.match(text, /^\[lines 1 to 3 of wide\.txt, which has 300,010 bytes; go on with offset 4\]\n/);
  assert.equal(text.split('\n')[3], 'é'.repeat(15_000));
  assert.ok(text.endsWith('\n'));
});

test('of a line that is longer than the window its beginning is shown, in whole characters', async (t) => {
  const { read } = await reader(t, { 'one-line.json': `x${'😀'.repeat(50_000)}\nsecond\n` });
  assert.deepEqual(
    await read('one-line.json'),
    finished(
      '[line 1 of one-line.json is longer than 100,000 bytes, this is its beginning; the next line is at offset 2]\n' +
        `x${'😀'.repeat(24_999)}`,
    ),
  );
  assert.deepEqual(
    await read('one-line.json', { offset: 2 }),
    finished('[line 2 of one-line.json, up to its end]\nsecond\n'),
  );
});

test('a file of exactly the limits is not cut', async (t) => {
  const lines = numbered(2_000);
  const bytes = 'x'.repeat(99_999);
  const { read } = await reader(t, { 'lines.txt': lines, 'bytes.txt': `${bytes}\n`, 'open.txt': `${bytes}y` });
  assert.deepEqual(await read('lines.txt'), finished(lines));
  assert.deepEqual(await read('bytes.txt'), finished(`${bytes}\n`));
  assert.deepEqual(await read('open.txt'), finished(`${bytes}y`));
});

test('a huge file costs no more than its window', async (t) => {
  const { workspace, read } = await reader(t);
  const file = await open(join(workspace, 'huge.log'), 'w');
  await file.write('begin\n'.repeat(3_000));
  // A hole of 100 GB: nobody could hold it.
  await file.truncate(100_000_000_000);
  await file.close();
  const { text } = await read('huge.log');
  assert.match(
    text,
    /^\[lines 1 to 2000 of huge\.log, which has 100,000,000,000 bytes; go on with offset 2001\]\nbegin\n/,
  );
  assert.equal(text.length, 12_000 + text.indexOf('\n') + 1);
});

test('a stop ends the search for a far line', async (t) => {
  const { workspace } = await reader(t, { 'a.txt': numbered(100) });
  const context = fakeToolContext(workspace, AbortSignal.abort(new Error('stopped')));
  await assert.rejects(createReadFileTool(plainFileDeps).run({ path: 'a.txt', offset: 50 }, context), /stopped/);
});

test('bytes that are no UTF-8 are marked, and it is said so: written back like that they would be lost', async (t) => {
  const { read } = await reader(t, { 'latin.txt': Uint8Array.of(0x66, 0xfc, 0x72, 0x0a) });
  const note = '[latin.txt is not in UTF-8; each � stands for what could not be read]';
  assert.deepEqual(await read('latin.txt'), finished(`${note}\nf�r\n`));
});

test('a binary file is not shown', async (t) => {
  const { read } = await reader(t, { 'image.png': Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0, 0, 0, 13) });
  const text = 'image.png is a binary file (8 bytes); read_file shows text and pictures only.';
  assert.deepEqual(await read('image.png'), failed(text));
});

test('a folder is answered with what is in it', async (t) => {
  const many = Object.fromEntries(Array.from({ length: 150 }, (_, index) => [`many/${1_000 + index}`, '']));
  const { workspace, read } = await reader(t, { 'src/b.ts': '', 'src/lib/c.ts': '', 'src/a.ts': '', ...many });
  await mkdir(join(workspace, 'empty'));
  assert.deepEqual(await read('src'), failed('src is a folder. In it: a.ts, b.ts, lib/.'));
  assert.deepEqual(await read('.'), failed('. is a folder. In it: empty/, many/, src/.'));
  assert.deepEqual(await read('empty'), failed('empty is a folder, and it is empty.'));
  assert.match((await read('many')).text, /1098, 1099 and 50 more\.$/);
});

test('for a missing file the nearest names are suggested', async (t) => {
  const { read } = await reader(t, { 'docs/README.md': '', 'docs/readme.de.md': '', 'docs/other.txt': '' });
  assert.deepEqual(
    await read('docs/readme.md'),
    failed('docs/readme.md does not exist. Did you mean docs/README.md or docs/readme.de.md?'),
  );
  assert.deepEqual(await read('docs/zzz'), failed('docs/zzz does not exist.'));
  assert.deepEqual(
    await read('doc/README.md'),
    failed('doc/README.md does not exist, nor does the folder it would be in.'),
  );
});

test('files outside the workspace are refused, by any way', async (t) => {
  const { workspace, read } = await reader(t);
  await symlink('/etc/passwd', join(workspace, 'innocent.txt'));
  for (const path of ['/etc/passwd', '../../etc/passwd', 'innocent.txt']) {
    const outcome = await read(path);
    assert.equal(outcome.kind, 'failed');
    assert.match(outcome.text, /is outside the workspace/);
  }
});

test('a pipe that nobody writes to is not waited for', async (t) => {
  const { workspace, read } = await reader(t);
  await promisify(execFile)('mkfifo', [join(workspace, 'pipe')]);
  assert.deepEqual(await read('pipe'), failed("pipe is neither a file nor a folder and can't be read."));
});

test('lines are counted from 1', () => {
  const tool = createReadFileTool(plainFileDeps);
  assert.deepEqual(tool.parse({ path: 'a', offset: 0 }), { ok: false, problem: '`offset` must be at least 1.' });
  assert.deepEqual(tool.parse({ path: 'a', limit: 0 }), { ok: false, problem: '`limit` must be at least 1.' });
  assert.deepEqual([tool.effect, tool.replay], ['read', 'safe']);
});

test('what calls of this session left in the spool can be read by its absolute path, and nothing beside it', async (t) => {
  const top = await realpath(await temporaryFolder(t));
  const [workspace, spoolFolder] = [join(top, 'workspace'), join(top, 'spool', 'ses_1')];
  await mkdir(workspace);
  await mkdir(join(spoolFolder, 'cal_1'), { recursive: true });
  await mkdir(join(top, 'spool', 'ses_2'));
  await writeFile(join(top, 'spool', 'ses_2', 'output'), 'of another session');
  await symlink(join(top, 'spool', 'ses_2', 'output'), join(spoolFolder, 'link'));
  const path = join(spoolFolder, 'cal_1', 'output');
  await writeFile(path, numbered(3));
  const context = { ...fakeToolContext(workspace), spoolFolder };
  const read = (input: { path: string; offset?: number }) => createReadFileTool(plainFileDeps).run(input, context);
  assert.deepEqual(await read({ path }), finished(numbered(3)));
  assert.deepEqual(await read({ path, offset: 3 }), finished(`[line 3 of ${path}, up to its end]\nline 3\n`));
  assert.deepEqual(await read({ path: `${path}s` }), failed(`${path}s does not exist. Did you mean ${path}?`));
  const outside = [
    '/etc/passwd',
    join(spoolFolder, '..', 'ses_2', 'output'),
    `${spoolFolder}-2/x`,
    join(spoolFolder, 'link'),
  ];
  for (const wrong of outside) assert.match((await read({ path: wrong })).text, /is outside the workspace/, wrong);
});
