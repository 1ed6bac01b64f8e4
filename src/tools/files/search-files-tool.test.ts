import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { link, mkdir, symlink, truncate, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import test from 'node:test';
import { promisify } from 'node:util';
import { systemClock } from '../../lib/clock.ts';
import { fakeToolContext } from '../fake-tool-context.ts';
import { hitsMax, searchedBytesMax } from './ripgrep.ts';
import { createSearchFilesTool } from './search-files-tool.ts';
import { plainFileDeps } from './test-file-deps.ts';
import { openFileDesk, type FileDesk } from './test-file-desk.ts';

async function searcher(t: test.TestContext, files: Readonly<Record<string, string | Uint8Array>>): Promise<FileDesk> {
  const desk = await openFileDesk(t, { clock: systemClock });
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(desk.workspace, name)), { recursive: true });
    await writeFile(join(desk.workspace, name), content);
  }
  return desk;
}

const found = (text: string) => ({ kind: 'finished', text });

test('lines are found by a regular expression, in order, with their place', async (t) => {
  const desk = await searcher(t, { 'b.ts': 'one\ntwo\n', 'a/a.ts': 'zero\r\none\r\nnone', 'c.md': 'one' });
  assert.deepEqual(
    await desk.use('search_files', { pattern: '^one' }),
    found('a/a.ts:2: one\nb.ts:1: one\nc.md:1: one'),
  );
  assert.deepEqual(
    await desk.use('search_files', { pattern: 'one', glob: '*.ts', path: 'a' }),
    found('a/a.ts:2: one\na/a.ts:3: none'),
  );
  assert.deepEqual(await desk.use('search_files', { pattern: 'TWO' }), found('nothing found'));
  assert.deepEqual(await desk.use('search_files', { pattern: 'TWO', ignore_case: true }), found('b.ts:2: two'));
  assert.deepEqual(await desk.use('search_files', { pattern: 'two', path: 'b.ts' }), found('b.ts:2: two'));
});

test('lines around a match are shown with another sign', async (t) => {
  const desk = await searcher(t, { a: '1\n2\n3\nx\n5\n6\n7\n8\nx\n10\n', b: 'x' });
  assert.deepEqual(
    await desk.use('search_files', { pattern: 'x', context: 1 }),
    found('a-3- 3\na:4: x\na-5- 5\n--\na-8- 8\na:9: x\na-10- 10\n--\nb:1: x'),
  );
});

test('files are found by a part of their path or by a glob', async (t) => {
  const desk = await searcher(t, { 'src/run.ts': '', 'src/run.test.ts': '', 'docs/Run.md': '', '.env.example': '' });
  const names = (pattern: string, more = {}) => desk.use('search_files', { pattern, by: 'name', ...more });
  assert.deepEqual(await names('run'), found('src/run.test.ts\nsrc/run.ts'));
  assert.deepEqual(await names('run', { ignore_case: true }), found('docs/Run.md\nsrc/run.test.ts\nsrc/run.ts'));
  assert.deepEqual(await names('*.md'), found('docs/Run.md'));
  assert.deepEqual(await names('.env'), found('.env.example'));
});

test('what .gitignore names and what git keeps is passed over', async (t) => {
  const desk = await searcher(t, {
    '.gitignore': 'dist/\n*.log\n',
    'dist/a.js': 'needle',
    'x.log': 'needle',
    '.git/config': 'needle',
    'a.js': 'needle',
  });
  assert.deepEqual(await desk.use('search_files', { pattern: 'needle' }), found('a.js:1: needle'));
  assert.deepEqual(await desk.use('search_files', { pattern: 'needle', glob: '*.log' }), found('nothing found'));
  assert.deepEqual(await desk.use('search_files', { pattern: 'needle', glob: '*.js' }), found('a.js:1: needle'));
  assert.deepEqual(await desk.use('search_files', { pattern: '*.{log,js}', by: 'name' }), found('a.js'));
});

test('results are bounded, and it is said how many were left out', async (t) => {
  const desk = await searcher(t, { a: 'x\n'.repeat(120), long: `${'y'.repeat(100_000)}x\n` });
  const outcome = await desk.use('search_files', { pattern: 'x', limit: 2 });
  assert.deepEqual(outcome, found('a:1: x\na:2: x\n[119 more left out]'));
  const long = await desk.use('search_files', { pattern: 'yx' });
  assert.deepEqual(long, found(`long:1: ${'y'.repeat(400)} …`));
});

test('a name is found among more files than are ever shown', async (t) => {
  const desk = await searcher(t, {});
  for (let count = 0; count <= hitsMax; count += 1) writeFileSync(join(desk.workspace, `f${count}`), '');
  await writeFile(join(desk.workspace, 'the-one'), '');
  assert.deepEqual(await desk.use('search_files', { pattern: 'the-o', by: 'name' }), found('the-one'));
  const all = await desk.use('search_files', { pattern: 'f', by: 'name', limit: 1 });
  assert.match(JSON.stringify(all), /\[at least 4,999 more left out\]/);
});

test('a file that turns out to be binary takes no hit of another file with it', async (t) => {
  const binary = `needle\n${'y\n'.repeat(100_000)}\0\n`;
  const names = Array.from({ length: 10 }, (_, index) => [`${index}.dat`, `${index}.txt`]).flat();
  const desk = await searcher(
    t,
    Object.fromEntries(names.map((name) => [name, name.endsWith('.dat') ? binary : 'needle\n'])),
  );
  const outcome = await desk.use('search_files', { pattern: 'needle' });
  assert.deepEqual(outcome, found(names.map((name) => `${name}:1: needle`).join('\n')));
});

test('a file that is too large to be searched is not said to have nothing', async (t) => {
  const desk = await searcher(t, { 'large.log': '' });
  await truncate(join(desk.workspace, 'large.log'), searchedBytesMax + 1);
  assert.deepEqual(await desk.use('search_files', { pattern: 'x', path: 'large.log' }), {
    kind: 'failed',
    text: 'large.log has more than 50,000,000 bytes. Search it with a command instead.',
  });
});

test('a wrong expression or glob is told', async (t) => {
  const desk = await searcher(t, { a: 'x' });
  assert.match(JSON.stringify(await desk.use('search_files', { pattern: '(' })), /could not be made: .*unclosed group/);
  assert.match(JSON.stringify(await desk.use('search_files', { pattern: 'x', glob: '{a' })), /could not be made/);
  // Without advice on options that only ripgrep has.
  const twoLines = await desk.use('search_files', { pattern: 'a\\nb' });
  assert.match(JSON.stringify(twoLines), /is not allowed in a regex"/);
  assert.match(JSON.stringify(await desk.use('search_files', { pattern: 'x', path: 'none' })), /none does not exist/);
});

test('binary files are not shown, and names with odd characters are', async (t) => {
  const desk = await searcher(t, { bin: Uint8Array.of(0x78, 0, 0x78), 'new\nline:3:': 'x', '-dash': 'x' });
  assert.deepEqual(await desk.use('search_files', { pattern: 'x' }), found('-dash:1: x\nnew\nline:3::1: x'));
});

test('nothing outside is shown: not by path, link, or another name of the same file', async (t) => {
  const desk = await searcher(t, { a: 'needle' });
  await mkdir(join(desk.top, 'private'));
  await writeFile(join(desk.top, 'private/s.txt'), 'needle canary');
  await writeFile(join(desk.home, '.env'), 'needle canary');
  await symlink(join(desk.top, 'private'), join(desk.workspace, 'way-out'));
  await symlink('../.env', join(desk.workspace, 'env'));
  await link(join(desk.home, '.env'), join(desk.workspace, 'env2'));
  assert.deepEqual(await desk.use('search_files', { pattern: 'needle' }), found('a:1: needle'));
  for (const path of ['..', 'way-out', '/', join(desk.top, 'private'), 'env', '/proc/self']) {
    assert.equal((await desk.use('search_files', { pattern: 'needle', path })).kind, 'failed', path);
  }
});

test('a workspace that holds the home shows nothing of the home', async (t) => {
  const desk = await searcher(t, {});
  await writeFile(join(desk.home, '.env'), 'needle canary');
  const around = { workspace: desk.top };
  assert.deepEqual(await desk.use('search_files', { pattern: 'canary' }, around), found('nothing found'));
  assert.deepEqual(await desk.use('search_files', { pattern: '.env', by: 'name' }, around), found('nothing found'));
});

test('a search that hangs is ended, and says so', async (t) => {
  const desk = await searcher(t, { a: 'x' });
  // Opening a pipe that nobody writes to waits for ever.
  await promisify(execFile)('mkfifo', [join(desk.workspace, '.ignore')]);
  const tool = createSearchFilesTool({ ...plainFileDeps, clock: systemClock, searchTimeoutMs: 100 });
  const outcome = await tool.run({ pattern: 'x' }, fakeToolContext(desk.workspace));
  assert.deepEqual(outcome, found('nothing found; the search was ended because it took too long'));
});

test('a stop ends the search', async (t) => {
  const desk = await searcher(t, { a: 'x' });
  const signal = AbortSignal.abort(new Error('stopped'));
  await assert.rejects(desk.use('search_files', { pattern: 'x' }, { signal }), /stopped/);
});
