import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdir, readFile, readdir, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'node:test';
import { sleep, systemClock, type Clock } from '../../lib/clock.ts';
import { fakeToolContext, type FakeToolContext } from '../fake-tool-context.ts';
import { callSpool } from './call-spool.ts';
import { bootId, processStat } from '../process-identity.ts';
import { endCommand } from './end-command.ts';
import { listRunning, pruneSpools, removeSpool } from './spool.ts';
import { listProcesses, nameProcess, processesMax } from './process-table.ts';
import { openHost } from './session-host.ts';
import { shellArgv, startSupervisor } from './start-supervisor.ts';
import { createTerminalTool } from './terminal-tool.ts';
import { allGone, folderToEnd, isGone, pidsIn } from './test-processes.ts';

const deps = { clock: systemClock };
const tool = createTerminalTool({ clock: systemClock, defaultTimeoutMs: 20_000, env: process.env });

/** A workspace, and the folder of the spools of all sessions. */
async function place(t: test.TestContext) {
  const top = await folderToEnd(t);
  const [workspace, root] = [join(top, 'workspace'), join(top, 'spool')];
  await mkdir(workspace);
  const context = (session: string): FakeToolContext => ({
    ...fakeToolContext(workspace),
    spoolFolder: join(root, session),
  });
  const supervise = async (session: string, command: string) => {
    const { spoolFolder, callId } = context(session);
    const spool = callSpool(spoolFolder, callId);
    const deadlineMs = systemClock.now() + 20_000;
    await spool.writeRequest({ command, cwd: workspace, timeoutMs: 20_000, deadlineMs, boot: await bootId() });
    const environment = { PATH: '/usr/bin:/bin' };
    const started = await startSupervisor(spool, {
      argv: shellArgv(command, workspace),
      cwd: workspace,
      environment,
      endAfterS: 30,
    });
    assert.ok(started.kind === 'started');
    return { spool, supervisor: started.supervisor };
  };
  return { workspace, root, context, supervise };
}

test('what runs is listed, in the background too, and what ended is not', async (t) => {
  const { workspace, root, context, supervise } = await place(t);
  await tool.run({ command: 'echo done' }, context('a'));
  const foreground = 'echo $$ >> pids; sleep 600';
  const background = 'sleep 600 > /dev/null 2>&1 & echo $! >> pids';
  await supervise('b', foreground);
  await pidsIn(join(workspace, 'pids'), 1);
  await tool.run({ command: background }, context('c'));
  const pids = await pidsIn(join(workspace, 'pids'), 2);
  const { callId } = context('a');
  const sorted = (await listRunning(root)).sort((a, b) => (a.session < b.session ? -1 : 1));
  assert.deepEqual(sorted, [
    { session: 'b', callId, command: foreground, isBackground: false },
    { session: 'c', callId, command: background, isBackground: true },
  ]);
  for (const session of ['b', 'c']) await removeSpool(deps, join(root, session));
  await allGone(pids);
  assert.deepEqual(await listRunning(root), []);
});

test('a session that is removed leaves nothing behind: no file, no process, no supervisor', async (t) => {
  const { workspace, root, supervise } = await place(t);
  const command = "(trap '' TERM; echo $BASHPID >> pids; exec sleep 600) & echo $$ >> pids; wait";
  const { supervisor } = await supervise('a', command);
  const pids = await pidsIn(join(workspace, 'pids'), 2);
  await removeSpool(deps, join(root, 'a'));
  await allGone([...pids, supervisor.pid]);
  assert.deepEqual(await readdir(root), []);
  await removeSpool(deps, join(root, 'a'));
});

test('a process group that only has the number of an old command is left alone', async (t) => {
  const { workspace, root, supervise } = await place(t);
  const { spool } = await supervise('a', 'echo $$ > pids; sleep 600');
  const pids = await pidsIn(join(workspace, 'pids'), 1);
  const stranger = await spool.readGroup();
  const old = join(root, 'b', 'cal_old');
  await mkdir(old, { recursive: true });
  await writeFile(join(old, 'claim'), `1\n1\n${await bootId()}\n`);
  await writeFile(join(old, 'group'), `${stranger?.group}\n${stranger?.leader.pid}\n1\n`);
  await removeSpool(deps, join(root, 'b'));
  assert.equal(await isGone(pids[0] ?? 0), false);
  await removeSpool(deps, join(root, 'a'));
  await allGone(pids);
});

test('old spools go, what runs and what is young stays, and an old call never looks like one that never began', async (t) => {
  const { workspace, root, context, supervise } = await place(t);
  const hourMs = 3_600_000;
  await tool.run({ command: 'echo old' }, context('old'));
  await supervise('running', 'echo $$ > pids; sleep 600');
  const pids = await pidsIn(join(workspace, 'pids'), 1);
  const clock: Clock = { ...systemClock, now: () => systemClock.now() + 2 * hourMs };
  await tool.run({ command: 'echo young' }, context('young'));
  const later = new Date(clock.now());
  await utimes(join(root, 'young', context('young').callId), later, later);

  assert.equal(await pruneSpools({ clock }, root, hourMs), 1);
  assert.deepEqual((await readdir(join(root, 'old'))).sort(), ['removed-up-to', 'shell']);
  assert.deepEqual((await readdir(join(root, 'young'))).sort(), [context('young').callId, 'shell']);
  assert.deepEqual(await readdir(join(root, 'running')), [context('running').callId]);
  assert.equal(await pruneSpools({ clock }, root, hourMs), 0);

  const outcome = await tool.attach?.({ command: 'touch again' }, context('old'));
  assert.equal(outcome?.kind, 'unknown');
  assert.match(outcome?.text ?? '', /it is so long ago that its record was removed/);
  await assert.rejects(stat(join(workspace, 'again')));
  await removeSpool(deps, join(root, 'running'));
  await allGone(pids);
});

test('processes that ended long ago make room for others, and no name is given twice', async (t) => {
  const folder = join(await folderToEnd(t), 'ses');
  const start = async (callId: string) => {
    await mkdir(join(folder, callId), { recursive: true });
    const more = { command: 'x', startedAt: 0, notify: null, isOnline: false, isPty: false };
    return nameProcess(folder, { callId, ...more });
  };
  for (let number = 1; number <= processesMax; number++) {
    assert.equal(await start(`cal_${String(number).padStart(4, '0')}`), `p${number}`);
  }
  assert.equal(await start('cal_too_many'), null);
  const clock: Clock = { ...systemClock, now: () => systemClock.now() + 3_600_000 };
  await pruneSpools({ clock }, join(folder, '..'), 1_000);
  assert.deepEqual(
    (await listProcesses(folder)).map(({ id }) => id),
    [`p${processesMax}`],
  );
  assert.equal(await start('cal_x'), `p${processesMax + 1}`);
});

test('a folder of spools that is not there holds nothing', async (t) => {
  const root = join(await folderToEnd(t), 'none');
  assert.deepEqual(await listRunning(root), []);
  assert.equal(await pruneSpools(deps, root, 0), 0);
});

test('an end that comes before the supervisor has begun keeps the command from starting', async (t) => {
  const { workspace, root, supervise } = await place(t);
  for (let round = 0; round < 10; round++) {
    const { supervisor } = await supervise('a', 'echo $$ >> pids; sleep 600');
    await removeSpool(deps, join(root, 'a'));
    await supervisor.exited;
  }
  const pids = await readFile(join(workspace, 'pids'), 'utf8').catch(() => '');
  await allGone(pids.split('\n').filter(Boolean).map(Number));
});

test('an end that comes while a supervisor takes its claim, and before its host listens, ends it all the same', async (t) => {
  const folder = join(await folderToEnd(t), 'ses');
  const spool = callSpool(folder, fakeToolContext(folder).callId);
  await mkdir(spool.folder, { recursive: true });
  const claim = join(spool.folder, 'claim');
  await writeFile(claim, '');
  const { pid = 0 } = spawn('/bin/sleep', ['600'], { detached: true, stdio: 'ignore' });
  const ending = endCommand(systemClock, spool, openHost(folder, '1'));
  await sleep(systemClock, 50);
  const { start } = (await processStat(String(pid))) ?? assert.fail();
  await writeFile(claim, [pid, start, await bootId(), ''].join('\n'));
  await ending;
  await allGone([pid]);
});
