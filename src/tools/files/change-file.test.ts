import assert from 'node:assert/strict';
import { chmod, link, mkdir, readFile, readdir, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'node:test';
import { openFileDesk, type FileDesk } from './test-file-desk.ts';

const put = (desk: FileDesk, name: string, text: string) => writeFile(join(desk.workspace, name), text);
const get = (desk: FileDesk, name: string) => readFile(join(desk.workspace, name), 'utf8');

test('a file that exists is overwritten only after it was read, or when that is asked for', async (t) => {
  const desk = await openFileDesk(t);
  await put(desk, 'a.txt', 'theirs');
  assert.deepEqual(await desk.use('write_file', { path: 'a.txt', content: 'ours' }), {
    kind: 'failed',
    text: 'a.txt exists and has not been read here. Read it first, or pass "overwrite": true. Nothing was written.',
  });
  assert.equal(await get(desk, 'a.txt'), 'theirs');
  await desk.use('read_file', { path: 'a.txt' });
  assert.equal((await desk.use('write_file', { path: './a.txt', content: 'ours' })).kind, 'finished');
  // What was written here has been seen here.
  assert.equal((await desk.use('write_file', { path: 'a.txt', content: 'ours, again' })).kind, 'finished');
  assert.equal(await get(desk, 'a.txt'), 'ours, again');
});

test('a file that somebody changed since it was read is not overwritten, also after a restart', async (t) => {
  const desk = await openFileDesk(t);
  await put(desk, 'a.txt', 'one');
  await desk.use('read_file', { path: 'a.txt' });
  await put(desk, 'a.txt', 'two');
  const after = await desk.use('write_file', { path: 'a.txt', content: 'x' });
  assert.match(String('text' in after && after.text), /has changed since it was read/);
  assert.equal(await get(desk, 'a.txt'), 'two');
  const record = await readFile(join(desk.home, 'spool', desk.sessionId, '.seen.json'), 'utf8');
  assert.ok(record.includes('a.txt'));
  assert.equal((await desk.use('write_file', { path: 'a.txt', content: 'x', overwrite: true })).kind, 'finished');
});

test('another session has not read what this one has', async (t) => {
  const desk = await openFileDesk(t);
  await put(desk, 'a.txt', 'one');
  await desk.use('read_file', { path: 'a.txt' });
  const spoolFolder = join(desk.home, 'spool', 'ses_other');
  const outcome = await desk.use('write_file', { path: 'a.txt', content: 'x' }, { spoolFolder });
  assert.equal(outcome.kind, 'failed');
});

test('a patch changes all places or none, keeps the mode, and returns the diff', async (t) => {
  const desk = await openFileDesk(t);
  await put(desk, 'run.sh', '#!/bin/sh\necho one\necho two\n');
  await chmod(join(desk.workspace, 'run.sh'), 0o755);
  const edits = [
    { old: 'one', new: '1' },
    { old: 'two', new: '2' },
  ];
  assert.deepEqual(await desk.use('patch', { path: 'run.sh', edits }), {
    kind: 'finished',
    text: 'changed run.sh\n@@ -1,3 +1,3 @@\n #!/bin/sh\n-echo one\n-echo two\n+echo 1\n+echo 2',
  });
  assert.equal((await stat(join(desk.workspace, 'run.sh'))).mode & 0o777, 0o755);
  const wrong = [
    { old: '1', new: 'x' },
    { old: 'missing', new: 'y' },
  ];
  assert.equal((await desk.use('patch', { path: 'run.sh', edits: wrong })).kind, 'failed');
  assert.equal(await get(desk, 'run.sh'), '#!/bin/sh\necho 1\necho 2\n');
});

test('a patch says if the file had changed, and refuses what is no text or not there', async (t) => {
  const desk = await openFileDesk(t);
  await put(desk, 'a.txt', 'a\nb\n');
  await desk.use('read_file', { path: 'a.txt' });
  await put(desk, 'a.txt', 'a\nb\nc\n');
  const outcome = await desk.use('patch', { path: 'a.txt', edits: [{ old: 'a', new: 'A' }] });
  assert.match(JSON.stringify(outcome), /a\.txt had changed since it was read/);
  await writeFile(join(desk.workspace, 'latin'), Uint8Array.of(0x61, 0xfc));
  for (const [path, words] of [
    ['latin', /not a text file in UTF-8/],
    ['none', /does not exist\. To create it, use write_file/],
  ] as const) {
    assert.match(JSON.stringify(await desk.use('patch', { path, edits: [{ old: 'a', new: 'b' }] })), words);
  }
});

test('what is outside asks, and what was approved is done exactly so or not at all', async (t) => {
  const desk = await openFileDesk(t, { gate: 'asks' });
  const outside = join(desk.top, 'notes.txt');
  await writeFile(outside, 'old\n');
  const input = { path: outside, content: 'new\n', overwrite: true };
  const asked = await desk.use('write_file', input);
  assert.equal(asked.kind, 'ask');
  assert.deepEqual(
    desk.plans.map(({ kind, subject, shown, lasting, reasons }) => ({ kind, subject, shown, lasting, reasons })),
    [
      {
        kind: 'file',
        // Not for the folder: a yes for one file is none for those beside it.
        subject: `write ${outside}`,
        shown: `write ${outside}\n@@ -1,1 +1,1 @@\n-old\n+new`,
        lasting: `every change to ${outside}`,
        reasons: ['is outside the workspace'],
      },
    ],
  );
  assert.equal(await readFile(outside, 'utf8'), 'old\n');
  if (asked.kind !== 'ask') return;
  const answer = (said: string) => desk.tool('write_file').answered?.(input, said, desk.context(), asked);
  assert.deepEqual(await answer('no'), { kind: 'failed', text: 'It was not allowed.' });
  await writeFile(outside, 'changed meanwhile\n');
  assert.match(JSON.stringify(await answer('once')), /is not as it was when this was approved/);
  assert.equal(await readFile(outside, 'utf8'), 'changed meanwhile\n');
  await writeFile(outside, 'old\n');
  assert.equal((await answer('once'))?.kind, 'finished');
  assert.equal(await readFile(outside, 'utf8'), 'new\n');
});

test('reading outside asks too, and nobody is asked in a turn that nobody began', async (t) => {
  const desk = await openFileDesk(t, { gate: 'asks' });
  const outside = join(desk.top, 'notes.txt');
  await writeFile(outside, 'words');
  const asked = await desk.use('read_file', { path: outside });
  assert.equal(asked.kind, 'ask');
  if (asked.kind !== 'ask') return;
  const read = await desk.tool('read_file').answered?.({ path: outside }, 'once', desk.context(), asked);
  assert.deepEqual(read, { kind: 'finished', text: 'words' });
  assert.deepEqual(await desk.use('read_file', { path: outside }, { isUnattended: true }), {
    kind: 'failed',
    text: 'Nobody is there to ask.',
  });
});

test('why a change does not fit is not told of a file that nobody allowed to be looked at', async (t) => {
  const desk = await openFileDesk(t, { gate: 'asks' });
  await writeFile(join(desk.top, 'secret'), 'password: hunter2');
  const outcome = await desk.use('patch', { path: join(desk.top, 'secret'), edits: [{ old: 'password: a', new: '' }] });
  assert.deepEqual(outcome, { kind: 'failed', text: `${desk.top}/secret is outside the workspace. Read it first.` });
});

test('protected files ask even in the workspace, by whatever way they are reached', async (t) => {
  const desk = await openFileDesk(t, { gate: 'asks' });
  await mkdir(join(desk.workspace, '.git/hooks'), { recursive: true });
  await symlink('.git/hooks', join(desk.workspace, 'innocent'));
  for (const path of [
    '.git/hooks/pre-commit',
    'innocent/pre-commit',
    '.vscode/tasks.json',
    'sub/.bashrc',
    '.GIT/config',
  ]) {
    assert.equal((await desk.use('write_file', { path, content: 'x' })).kind, 'ask', path);
  }
  assert.deepEqual(
    [...new Set(desk.plans.flatMap(({ reasons }) => reasons))],
    ['is read or run by other programs later'],
  );
  assert.ok(desk.plans.every(({ canSend }) => canSend === true));
  assert.equal((await desk.use('write_file', { path: '.gitignore', content: 'x' })).kind, 'finished');
  const alone = await openFileDesk(t);
  assert.match(JSON.stringify(await alone.use('write_file', { path: '.envrc', content: 'x' })), /is protected/);
});

test('a home whose own name is protected has a workspace that is not', async (t) => {
  const desk = await openFileDesk(t);
  const workspace = join(desk.top, '.talaria/workspace');
  assert.equal((await desk.use('write_file', { path: 'a.txt', content: 'x' }, { workspace })).kind, 'finished');
});

test('further roots are as good as the workspace', async (t) => {
  const roots: string[] = [];
  const desk = await openFileDesk(t, { roots: () => roots });
  const path = join(desk.top, 'project/a.txt');
  await mkdir(join(desk.top, 'project'));
  assert.equal((await desk.use('write_file', { path, content: 'x' })).kind, 'failed');
  roots.push(join(desk.top, 'project'));
  assert.equal((await desk.use('write_file', { path, content: 'x' })).kind, 'finished');
});

test('a file with other names is replaced without touching those', async (t) => {
  const desk = await openFileDesk(t);
  await writeFile(join(desk.top, 'outside'), 'theirs');
  await link(join(desk.top, 'outside'), join(desk.workspace, 'a.txt'));
  const outcome = await desk.use('write_file', { path: 'a.txt', content: 'ours', overwrite: true });
  assert.equal(outcome.kind, 'finished');
  assert.deepEqual([await readFile(join(desk.top, 'outside'), 'utf8'), await get(desk, 'a.txt')], ['theirs', 'ours']);
});

test('names that are all inside may be read', async (t) => {
  const desk = await openFileDesk(t);
  await put(desk, 'a.txt', 'words');
  await link(join(desk.workspace, 'a.txt'), join(desk.workspace, 'b.txt'));
  assert.deepEqual(await desk.use('read_file', { path: 'b.txt' }), { kind: 'finished', text: 'words' });
});

test('C88 a write that a crash cut short is finished, done, or unknown, by what it left', async (t) => {
  const desk = await openFileDesk(t);
  const input = { path: 'a.txt', content: 'new' };
  const tool = desk.tool('write_file');
  assert.equal(tool.replay, 'attach');
  // It had not begun to touch anything.
  assert.equal((await tool.attach?.(input, desk.context()))?.kind, 'finished');
  assert.equal(await get(desk, 'a.txt'), 'new');
  // It had done all but say so: nothing is written again.
  const context = desk.context();
  await desk.tool('patch').run({ path: 'a.txt', edits: [{ old: 'new', new: 'newer' }] }, context);
  const before = await stat(join(desk.workspace, 'a.txt'));
  const patch = desk.tool('patch');
  const edits = [{ old: 'new', new: 'newer' }];
  assert.match(JSON.stringify(await patch.attach?.({ path: 'a.txt', edits }, context)), /a\.txt was written/);
  assert.equal((await stat(join(desk.workspace, 'a.txt'))).mtimeMs, before.mtimeMs);
  // Its checkpoint was kept and the file is as before: it is done now.
  await put(desk, 'a.txt', 'new');
  assert.equal((await patch.attach?.({ path: 'a.txt', edits }, context))?.kind, 'finished');
  assert.equal(await get(desk, 'a.txt'), 'newer');
  // Somebody else was there: nobody can tell.
  await put(desk, 'a.txt', 'something else');
  assert.equal((await patch.attach?.({ path: 'a.txt', edits }, context))?.kind, 'unknown');
  assert.equal(await get(desk, 'a.txt'), 'something else');
});

test('without checkpoints a cut write is finished if the file is as it should be, else unknown', async (t) => {
  const desk = await openFileDesk(t, { checkpointDays: () => null });
  await put(desk, 'a.txt', 'new');
  const attach = (content: string) => desk.tool('write_file').attach?.({ path: 'a.txt', content }, desk.context());
  assert.deepEqual([(await attach('new'))?.kind, (await attach('other'))?.kind], ['finished', 'unknown']);
  assert.deepEqual(await readdir(desk.home), ['spool', 'workspace']);
});

test('the four tools take at most 2,000 bytes of a prompt', async (t) => {
  const desk = await openFileDesk(t);
  const definitions = desk.files.tools.map(({ definition }) => definition);
  assert.deepEqual(definitions.map(({ name }) => name).sort(), ['patch', 'read_file', 'search_files', 'write_file']);
  assert.ok(JSON.stringify(definitions).length <= 2_000, String(JSON.stringify(definitions).length));
});

test('pictures are shown to the model, within a limit', async (t) => {
  const desk = await openFileDesk(t);
  const png = Buffer.from('89504e470d0a1a0a0000000d494844520000000100001f40', 'hex');
  await writeFile(join(desk.workspace, 'a.png'), png);
  assert.deepEqual(await desk.use('read_file', { path: 'a.png' }), {
    kind: 'finished',
    text: '[a.png is a picture: image/png, 24 bytes]',
    images: [{ mediaType: 'image/png', bytes: png }],
  });
  await writeFile(join(desk.workspace, 'tall.png'), Buffer.from(png.toString('hex').replace('1f40', '1f41'), 'hex'));
  assert.deepEqual(await desk.use('read_file', { path: 'tall.png' }), {
    kind: 'failed',
    text: "tall.png is a picture that can't be shown: it is broken, or a side has more than 8,000 pixels.",
  });
  await writeFile(join(desk.workspace, 'big.png'), Buffer.concat([png, Buffer.alloc(5_000_000)]));
  assert.match(JSON.stringify(await desk.use('read_file', { path: 'big.png' })), /at most 5,000,000 can be shown/);
});

test('a file to hand on is read as read_file would, and nothing from outside', async (t) => {
  const desk = await openFileDesk(t);
  await put(desk, 'a.txt', 'words');
  const open = (path: string) => desk.files.openForReading(path, desk.context(), 1_000);
  assert.deepEqual(await open('a.txt'), { kind: 'opened', name: 'a.txt', shown: 'a.txt', bytes: Buffer.from('words') });
  await put(desk, 'big', 'x'.repeat(1_001));
  for (const path of ['big', '.', 'none', '/etc/passwd', '../state.db', '/proc/self/environ']) {
    assert.equal((await open(path)).kind, 'refused', path);
  }
});

test('an empty folder that stands where a protected file is not does not keep that file from being written', async (t) => {
  const desk = await openFileDesk(t, { gate: 'goes' });
  await mkdir(join(desk.workspace, '.mcp.json'));
  await mkdir(join(desk.workspace, 'plain'));
  await mkdir(join(desk.workspace, '.envrc'));
  await put(desk, '.envrc/used', '');
  assert.deepEqual(await desk.use('write_file', { path: '.mcp.json', content: '{}\n' }), {
    kind: 'finished',
    text: 'wrote 1 line, 3 bytes to .mcp.json',
  });
  assert.equal(await get(desk, '.mcp.json'), '{}\n');
  assert.deepEqual(desk.plans.map(({ shown }) => shown).slice(-1), [
    `write ${join(desk.workspace, '.mcp.json')}\n@@ -0,0 +1,1 @@\n+{}`,
  ]);
  for (const path of ['plain', '.envrc']) {
    const outcome = await desk.use('write_file', { path, content: 'x' });
    assert.deepEqual(outcome, { kind: 'failed', text: `${path} is a folder, so nothing was written.` });
  }
  const refusing = await openFileDesk(t);
  await mkdir(join(refusing.workspace, '.mcp.json'));
  assert.equal((await refusing.use('write_file', { path: '.mcp.json', content: '{}' })).kind, 'failed');
  assert.deepEqual(await readdir(refusing.workspace), ['.mcp.json']);
});
