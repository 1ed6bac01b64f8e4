import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { chmod, mkdir, readFile, readdir, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'node:test';
import { systemClock } from '../../lib/clock.ts';
import { createCheckpointShelf } from './checkpoint-shelf.ts';
import { createFileTools } from './file-tools.ts';
import { sha256Of } from './read-whole.ts';
import { openFileDesk, type FileDesk } from './test-file-desk.ts';

const write = (desk: FileDesk, path: string, content: string) =>
  desk.use('write_file', { path, content, overwrite: true });
const textAt = (desk: FileDesk, name: string) =>
  readFile(join(desk.workspace, name), 'utf8').catch(() => 'nothing there');

async function threeWrites(t: test.TestContext): Promise<FileDesk> {
  const desk = await openFileDesk(t);
  await writeFile(join(desk.workspace, 'a.txt'), 'first', { mode: 0o640 });
  await chmod(join(desk.workspace, 'a.txt'), 0o640);
  await write(desk, 'a.txt', 'second');
  await write(desk, 'new/b.txt', 'made');
  await write(desk, 'a.txt', 'third');
  return desk;
}

test('checkpoints say which call changed which files, newest first', async (t) => {
  const desk = await threeWrites(t);
  const list = await desk.files.checkpoints.list(desk.sessionId);
  assert.deepEqual(
    list.map(({ number, tool, files }) => [number, tool, files.map(({ path, before }) => [path, before?.bytes])]),
    [
      [3, 'write_file', [[join(desk.workspace, 'a.txt'), 6]]],
      [2, 'write_file', [[join(desk.workspace, 'new/b.txt'), undefined]]],
      [1, 'write_file', [[join(desk.workspace, 'a.txt'), 5]]],
    ],
  );
});

test('a rollback restores content and mode, removes what was not there, and can itself be taken back', async (t) => {
  const desk = await threeWrites(t);
  const { checkpoints } = desk.files;
  await chmod(join(desk.workspace, 'a.txt'), 0o600);
  const done = await checkpoints.rollBack(desk.sessionId, 1, false);
  assert.deepEqual(done, {
    kind: 'done',
    number: 4,
    files: [join(desk.workspace, 'a.txt'), join(desk.workspace, 'new/b.txt')],
  });
  assert.deepEqual([await textAt(desk, 'a.txt'), await textAt(desk, 'new/b.txt')], ['first', 'nothing there']);
  assert.equal((await stat(join(desk.workspace, 'a.txt'))).mode & 0o777, 0o640);
  assert.deepEqual(await checkpoints.rollBack(desk.sessionId, 1, false), { kind: 'done', number: null, files: [] });
  await checkpoints.rollBack(desk.sessionId, 4, false);
  assert.deepEqual([await textAt(desk, 'a.txt'), await textAt(desk, 'new/b.txt')], ['third', 'made']);
});

test('a rollback goes back only as far as asked', async (t) => {
  const desk = await threeWrites(t);
  await desk.files.checkpoints.rollBack(desk.sessionId, 3, false);
  assert.deepEqual([await textAt(desk, 'a.txt'), await textAt(desk, 'new/b.txt')], ['second', 'made']);
  assert.deepEqual(await desk.files.checkpoints.rollBack(desk.sessionId, 9, false), { kind: 'no-such-checkpoint' });
});

test('what somebody else changed or removed since is left alone, and so is the rest, unless it is forced', async (t) => {
  const desk = await threeWrites(t);
  await writeFile(join(desk.workspace, 'a.txt'), 'by hand');
  assert.deepEqual(await desk.files.checkpoints.rollBack(desk.sessionId, 1, false), {
    kind: 'changed-since',
    files: [`${desk.workspace}/a.txt: somebody else has changed it since`],
  });
  assert.deepEqual([await textAt(desk, 'a.txt'), await textAt(desk, 'new/b.txt')], ['by hand', 'made']);
  const forced = await desk.files.checkpoints.rollBack(desk.sessionId, 1, true);
  assert.equal(forced.kind === 'done' && forced.files.length, 2);
  assert.equal(await textAt(desk, 'a.txt'), 'first');
  // What was overwritten by force can be had back.
  await desk.files.checkpoints.rollBack(desk.sessionId, 4, false);
  assert.equal(await textAt(desk, 'a.txt'), 'by hand');
});

test('a rollback that was cut in the middle is finished by asking again', async (t) => {
  const desk = await threeWrites(t);
  // As a crash after the first file leaves it.
  await writeFile(join(desk.workspace, 'a.txt'), 'first');
  const done = await desk.files.checkpoints.rollBack(desk.sessionId, 1, false);
  assert.deepEqual(done, { kind: 'done', number: 4, files: [join(desk.workspace, 'new/b.txt')] });
  assert.deepEqual([await textAt(desk, 'a.txt'), await textAt(desk, 'new/b.txt')], ['first', 'nothing there']);
});

test('a rollback to a change that is due to go puts the file back all the same', async (t) => {
  const desk = await threeWrites(t);
  // A gateway that was started after the last look at what may go.
  const restarted = createFileTools({
    home: desk.home,
    clock: desk.clock,
    roots: () => [],
    checkpointDays: () => 14,
    gate: null,
  });
  const old = new Date(desk.clock.now() - 15 * 86_400_000);
  for (const name of await readdir(join(desk.home, 'checkpoints', desk.sessionId))) {
    await utimes(join(desk.home, 'checkpoints', desk.sessionId, name, 'note.json'), old, old);
  }
  const done = await restarted.checkpoints.rollBack(desk.sessionId, 1, false);
  assert.equal(done.kind === 'done' && done.number, 4);
  assert.deepEqual([await textAt(desk, 'a.txt'), await textAt(desk, 'new/b.txt')], ['first', 'nothing there']);
});

test('a rollback is not led elsewhere by a link that was put in the way', async (t) => {
  const desk = await threeWrites(t);
  await mkdir(join(desk.top, 'victim'));
  await writeFile(join(desk.top, 'victim/b.txt'), 'made');
  await rm(join(desk.workspace, 'new'), { recursive: true });
  await symlink(join(desk.top, 'victim'), join(desk.workspace, 'new'));
  const outcome = await desk.files.checkpoints.rollBack(desk.sessionId, 1, true);
  assert.match(JSON.stringify(outcome), /new\/b\.txt: it is somewhere else now/);
  assert.equal(await readFile(join(desk.top, 'victim/b.txt'), 'utf8'), 'made');
});

test('the checkpoint is on the disk before the file is changed', async (t) => {
  const desk = await openFileDesk(t);
  await writeFile(join(desk.workspace, 'a.txt'), 'old');
  await writeFile(join(desk.home, 'checkpoints'), 'in the way');
  const outcome = await write(desk, 'a.txt', 'new');
  assert.equal(outcome.kind, 'failed');
  assert.equal(await textAt(desk, 'a.txt'), 'old');
});

test('writes at the same time get numbers of their own', async (t) => {
  const desk = await openFileDesk(t);
  await Promise.all(Array.from({ length: 20 }, (_, index) => write(desk, `f${index}`, 'x')));
  const list = await desk.files.checkpoints.list(desk.sessionId);
  assert.deepEqual(
    list.map(({ number }) => number),
    Array.from({ length: 20 }, (_, index) => 20 - index),
  );
});

test('old checkpoints go by age and by the room they take, and numbers are not given again', async (t) => {
  const desk = await openFileDesk(t);
  const folder = join(desk.top, 'shelf');
  const shelf = createCheckpointShelf({ folder, clock: systemClock, keptMs: () => 86_400_000, bytesMax: 2_500 });
  const keep = () =>
    shelf.keep(desk.sessionId, {
      callId: 'c',
      tool: 'write_file',
      workspace: desk.workspace,
      files: [{ path: '/a', before: { content: Buffer.alloc(800), mode: 0o644 }, after: null }],
    });
  const numbers = async () => (await shelf.list(desk.sessionId)).map(({ number }) => number);
  for (let count = 0; count < 4; count += 1) {
    const number = await keep();
    const when = new Date(Date.now() - 10_000 + number * 1_000);
    await utimes(join(folder, desk.sessionId, String(number).padStart(8, '0'), 'note.json'), when, when);
  }
  await shelf.prune();
  assert.deepEqual(await numbers(), [4, 3]);
  const longAgo = new Date(Date.now() - 2 * 86_400_000);
  for (const name of await readdir(join(folder, desk.sessionId))) {
    await utimes(join(folder, desk.sessionId, name, 'note.json'), longAgo, longAgo);
  }
  await shelf.prune();
  assert.deepEqual(await numbers(), []);
  assert.equal(await keep(), 5);
  await shelf.remove(desk.sessionId);
  assert.deepEqual(await readdir(folder), []);
});

test('C88 killed at any moment, a file is as before or as after its newest checkpoint, and can be put back', async (t) => {
  const desk = await openFileDesk(t);
  const path = join(desk.workspace, 'a.txt');
  const script = join(desk.top, 'write.mjs');
  await writeFile(script, writingScript);
  await writeFile(path, 'as it was');
  for (let round = 0; round < 3; round += 1) {
    const writer = spawn(process.execPath, [
      script,
      desk.home,
      desk.sessionId,
      join(import.meta.dirname, 'file-tools.ts'),
    ]);
    const gone = new Promise((resolve) => writer.once('close', resolve));
    // Some writes further each time, so that the kill does not always meet the same step.
    let seen = 0;
    for await (const chunk of writer.stdout) if ((seen += (chunk as Buffer).length) > round * 3) break;
    writer.kill('SIGKILL');
    await gone;
    const [newest] = await desk.files.checkpoints.list(desk.sessionId);
    const states = [newest?.files[0]?.before?.sha256, newest?.files[0]?.after];
    assert.ok(states.includes(sha256Of(await readFile(path))), `round ${round}`);
  }
  assert.equal((await desk.files.checkpoints.rollBack(desk.sessionId, 1, false)).kind, 'done');
  assert.equal(await readFile(path, 'utf8'), 'as it was');
});

/** Writes one state after the other, and a dot for each. */
const writingScript = `
  const [home, sessionId, family] = process.argv.slice(2);
  const { createFileTools } = await import(family);
  const clock = { now: () => Date.now(), setTimer: () => () => {} };
  const { tools } = createFileTools({ home, roots: () => [], gate: null, clock, checkpointDays: () => 1 });
  const write = tools.find(({ definition }) => definition.name === 'write_file');
  for (let count = 0; ; count += 1) {
    const context = { sessionId, callId: 'cal_' + process.pid + count, workspace: home + '/workspace', spoolFolder: home + '/spool/' + sessionId,
      signal: new AbortController().signal, onOutput() {}, untrusted: null, isUnattended: false };
    await write.run({ path: 'a.txt', content: String(count).repeat(10_000), overwrite: true }, context);
    process.stdout.write('.');
  }`;
