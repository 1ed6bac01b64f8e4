import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, readdir, realpath, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'node:test';
import { sleep, systemClock } from '../../lib/clock.ts';
import { fakeToolContext, type FakeToolContext } from '../fake-tool-context.ts';
import { callSpool } from './call-spool.ts';
import { bootId } from '../process-identity.ts';
import { listRunning } from './spool.ts';
import { shellArgv, startSupervisor } from './start-supervisor.ts';
import { createTerminalTool } from './terminal-tool.ts';
import { allGone, folderToEnd, isGone, pidsIn, until } from './test-processes.ts';

const env = { PATH: process.env['PATH'], HOME: '/nowhere' };
const tool = createTerminalTool({ clock: systemClock, defaultTimeoutMs: 20_000, env });

async function call(t: test.TestContext, signal?: AbortSignal) {
  const top = await realpath(await folderToEnd(t));
  const workspace = join(top, 'workspace');
  await mkdir(workspace);
  const context: FakeToolContext = { ...fakeToolContext(workspace, signal), spoolFolder: join(top, 'spool') };
  return { workspace, context, spool: callSpool(context.spoolFolder, context.callId) };
}

type Call = Awaited<ReturnType<typeof call>>;

const attach = async (command: string, context: FakeToolContext) => {
  assert.ok(tool.attach);
  return tool.attach({ command }, context);
};

/** Another process, as Talaria is one, that runs the tool in the same place and dies in the middle of it. */
async function diesWhileRunning({ context }: Call, command: string, untilThere: string): Promise<void> {
  const { sessionId, callId, workspace, spoolFolder } = context;
  const script = `
    const { createTerminalTool } = await import(${JSON.stringify(new URL('./terminal-tool.ts', import.meta.url).href)});
    const { systemClock } = await import(${JSON.stringify(new URL('../../lib/clock.ts', import.meta.url).href)});
    const tool = createTerminalTool({ clock: systemClock, defaultTimeoutMs: 20_000, env: process.env });
    const context = ${JSON.stringify({ sessionId, callId, workspace, spoolFolder })};
    const { signal } = new AbortController();
    await tool.run({ command: process.argv[1] }, { ...context, signal, onOutput() {} });`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script, command], { stdio: 'inherit' });
  const exited = new Promise((resolve) => child.once('exit', resolve));
  await until(() => stat(join(workspace, untilThere)).catch(() => null));
  child.kill('SIGKILL');
  await exited;
}

/** What a supervisor does that was started by a process that is gone. */
async function supervised({ spool, workspace }: Call, command: string, endAfterS = 30) {
  const deadlineMs = systemClock.now() + 20_000;
  await spool.writeRequest({ command, cwd: workspace, timeoutMs: 20_000, deadlineMs, boot: await bootId() });
  const started = await startSupervisor(spool, {
    argv: shellArgv(command, workspace),
    cwd: workspace,
    environment: { PATH: '/usr/bin:/bin' },
    endAfterS,
  });
  assert.ok(started.kind === 'started');
  return started.supervisor;
}

const runs = async (workspace: string) => (await readFile(join(workspace, 'runs'), 'utf8')).split('\n').length - 1;

test('C92 a command goes on when the process dies, and is taken up again: waited for, complete, run once', async (t) => {
  const it = await call(t);
  const command = 'echo run >> runs; echo before; touch up; until [ -e go ]; do sleep 0.02; done; echo after; exit 3';
  await diesWhileRunning(it, command, 'up');
  const attached = attach(command, it.context);
  await until(async () => (it.context.shown.join('') === 'before\n' ? true : null));
  await writeFile(join(it.workspace, 'go'), '');
  const outcome = { kind: 'finished', text: 'before\nafter\n[exit code 3]' };
  assert.deepEqual(await attached, outcome);
  assert.equal(it.context.shown.join(''), 'before\nafter\n');
  assert.deepEqual(await attach(command, it.context), outcome, 'attaching again gives the same');
  assert.equal(await runs(it.workspace), 1);
});

test('C92 a command that finished while nobody was there: its result is read', async (t) => {
  const it = await call(t);
  const command = 'echo run >> runs; touch up; until [ -e go ]; do sleep 0.02; done; seq 1 100000; exit 7';
  await diesWhileRunning(it, command, 'up');
  await writeFile(join(it.workspace, 'go'), '');
  await until(() => it.spool.readExit());
  const outcome = await attach(command, it.context);
  assert.equal(outcome.kind, 'finished');
  assert.match(
    outcome.text,
    /^1\n2\n3\n[^]* characters left out …\]\n[^]*\n100000\n\[exit code 7\]\n\[the whole output is in /,
  );
  assert.deepEqual(await attach(command, it.context), outcome);
  assert.equal(await runs(it.workspace), 1);
});

test('C92 a command that finished is not ended by a limit that passed later, nor by a stop', async (t) => {
  const it = await call(t, AbortSignal.abort());
  const command = 'echo done';
  await supervised(it, command).then((supervisor) => supervisor.exited);
  const deadlineMs = systemClock.now() - 1;
  await it.spool.writeRequest({ command, cwd: it.workspace, timeoutMs: 1_000, deadlineMs, boot: await bootId() });
  assert.deepEqual(await attach(command, it.context), { kind: 'finished', text: 'done' });
});

test('C92 what ended while nobody was there is told in another process as it would have been in the first', async (t) => {
  for (const command of [
    'echo a; exit 2',
    'echo a; kill -TERM $$',
    'true',
    'printf "a\\0b\\377"',
    'nonsense-command',
  ]) {
    const first = await call(t);
    const direct = await tool.run({ command }, first.context);
    const second = await call(t);
    const supervisor = await supervised(second, command);
    await supervisor.exited;
    assert.deepEqual(await attach(command, second.context), direct, command);
  }
});

test('C92 a command that never began is run when it is taken up', async (t) => {
  const nothing = await call(t);
  assert.deepEqual(await attach('echo run >> runs; echo ok', nothing.context), { kind: 'finished', text: 'ok' });
  assert.equal(await runs(nothing.workspace), 1);

  const asked = await call(t);
  await asked.spool.writeRequest({
    command: 'echo run >> runs; echo ok',
    cwd: asked.workspace,
    timeoutMs: 20_000,
    deadlineMs: systemClock.now() - 1,
    boot: await bootId(),
  });
  assert.deepEqual(await attach('echo run >> runs; echo ok', asked.context), { kind: 'finished', text: 'ok' });
  assert.equal(await runs(asked.workspace), 1);
});

test('C92 of many that take up a call at once, one runs it and all are told the same', async (t) => {
  const it = await call(t);
  const command = 'echo run >> runs; echo $$; sleep 0.1';
  const outcomes = await Promise.all(
    Array.from({ length: 6 }, () => attach(command, { ...it.context, onOutput: () => {} })),
  );
  assert.equal(outcomes[0]?.kind, 'finished');
  assert.deepEqual(
    outcomes,
    Array.from({ length: 6 }, () => outcomes[0]),
  );
  assert.equal(await runs(it.workspace), 1);
});

test('C92 a supervisor that was killed leaves an unknown outcome, the output so far, and nothing running', async (t) => {
  const it = await call(t);
  const command = 'echo run >> runs; echo so far; echo $$ > pids; sleep 600';
  const supervisor = await supervised(it, command);
  const pids = await pidsIn(join(it.workspace, 'pids'), 1);
  await until(async () => ((await readFile(it.spool.outputPath, 'utf8').catch(() => '')) === 'so far\n' ? true : null));
  process.kill(-supervisor.pid, 'SIGKILL');
  await supervisor.exited;
  const outcome = await attach(command, it.context);
  const why =
    'the process that watched over it was killed, or the disk was full when it ended; what was left of it was ended';
  const text = `so far\n[it is not known whether it finished: ${why}; look at what it did before you run it again]`;
  assert.deepEqual(outcome, { kind: 'unknown', text });
  await allGone(pids);
  assert.deepEqual(await attach(command, it.context), outcome);
  assert.equal(await runs(it.workspace), 1);
});

test('C92 a supervisor that is killed while its command is waited for is not waited for', async (t) => {
  const it = await call(t);
  const command = 'echo $$ > pids; sleep 600';
  const supervisor = await supervised(it, command);
  const pids = await pidsIn(join(it.workspace, 'pids'), 1);
  const attached = attach(command, it.context);
  process.kill(-supervisor.pid, 'SIGKILL');
  assert.equal((await attached).kind, 'unknown');
  await allGone(pids);
});

test('C92 after a restart of the machine the outcome is unknown, whatever runs under the old number', async (t) => {
  const it = await call(t);
  const command = 'echo so far; sleep 600';
  const supervisor = await supervised(it, command);
  await until(async () => (await readFile(it.spool.outputPath, 'utf8').catch(() => '')).includes('so far') || null);
  const claim = await readFile(join(it.spool.folder, 'claim'), 'utf8');
  await writeFile(join(it.spool.folder, 'claim'), claim.replace(/.*\n$/, 'another-boot\n'));
  const outcome = await attach(command, it.context);
  assert.equal(outcome.kind, 'unknown');
  assert.match(outcome.text, /^so far\n\[it is not known whether it finished: the machine went down meanwhile;/);
  assert.equal(supervisor.hasExited(), false, 'a stranger by now, so it is left alone');
  await writeFile(join(it.spool.folder, 'claim'), claim);
  const group = await it.spool.readGroup();
  process.kill(-(group?.group ?? 0), 'SIGKILL');
  await supervisor.exited;
});

test('C92 after a restart of the machine a command without a claim is not taken for one that never began', async (t) => {
  const it = await call(t);
  const deadlineMs = systemClock.now() + 20_000;
  await it.spool.writeRequest({
    command: 'touch ran',
    cwd: it.workspace,
    timeoutMs: 20_000,
    deadlineMs,
    boot: 'earlier',
  });
  assert.equal((await attach('touch ran', it.context)).kind, 'unknown');
  assert.deepEqual(await readdir(it.workspace), []);
});

test('C92 another process with the same number is not taken for the supervisor', async (t) => {
  const it = await call(t);
  await supervised(it, 'true').then((supervisor) => supervisor.exited);
  await writeFile(join(it.spool.folder, 'exit'), '');
  await writeFile(join(it.spool.folder, 'claim'), `${process.pid}\n1\n${await bootId()}\n`);
  assert.equal((await attach('true', it.context)).kind, 'unknown');
});

test('C92 a claim that says nothing is of a supervisor killed in that moment', async (t) => {
  const it = await call(t);
  const deadlineMs = systemClock.now() + 20_000;
  await it.spool.writeRequest({
    command: 'touch ran',
    cwd: it.workspace,
    timeoutMs: 20_000,
    deadlineMs,
    boot: await bootId(),
  });
  await writeFile(join(it.spool.folder, 'claim'), '');
  assert.equal((await attach('touch ran', it.context)).kind, 'unknown');
  assert.deepEqual(await readdir(it.workspace), []);
});

test('C92 at its time limit a command is ended by its supervisor, though nobody else is alive', async (t) => {
  const it = await call(t);
  const command = "(trap '' TERM; echo $BASHPID >> pids; sleep 600) & echo $$ >> pids; echo working; wait";
  const supervisor = await supervised(it, command, 1);
  const pids = await pidsIn(join(it.workspace, 'pids'), 2);
  await supervisor.exited;
  await allGone(pids);
  assert.deepEqual(await attach(command, it.context), {
    kind: 'failed',
    text: 'working\n[ended after 20 s, its time limit; timeout_s can be up to 3600]',
  });
});

test('C92 a time limit that passed while nobody was there has passed', async (t) => {
  const it = await call(t);
  const command = 'echo $$ > pids; sleep 600';
  const supervisor = await supervised(it, command);
  const pids = await pidsIn(join(it.workspace, 'pids'), 1);
  const deadlineMs = systemClock.now() - 1;
  const timeoutMs = 3_600_000;
  await it.spool.writeRequest({ command, cwd: it.workspace, timeoutMs, deadlineMs, boot: await bootId() });
  assert.deepEqual(await attach(command, it.context), {
    kind: 'failed',
    text: '[ended after 3600 s, its time limit; timeout_s can be up to 3600]',
  });
  await allGone(pids);
  await supervisor.exited;
});

test('C92 a supervisor is not ended by being asked to, as a system does that shuts a service down', async (t) => {
  const it = await call(t);
  const command = 'touch up; until [ -e go ]; do sleep 0.02; done; echo done';
  const supervisor = await supervised(it, command);
  await until(() => stat(join(it.workspace, 'up')).catch(() => null));
  process.kill(-supervisor.pid, 'SIGTERM');
  await writeFile(join(it.workspace, 'go'), '');
  assert.deepEqual(await attach(command, it.context), { kind: 'finished', text: 'done' });
});

test('C92 a stop ends a command that was taken up, with all its children', async (t) => {
  const stop = new AbortController();
  const it = await call(t, stop.signal);
  const command = 'sleep 600 & echo $! >> pids; (sleep 600 & echo $! >> pids; wait) & echo $$ >> pids; wait';
  await supervised(it, command);
  const pids = await pidsIn(join(it.workspace, 'pids'), 3);
  const attached = attach(command, it.context);
  stop.abort();
  assert.deepEqual(await attached, { kind: 'failed', text: '[stopped before it finished]' });
  await allGone(pids);
});

test('C92 C44 what a command left in the background survives the process, and the result says so', async (t) => {
  const it = await call(t);
  const command = '(until [ -e go ]; do sleep 0.02; done; echo late; echo done > proof) & echo $! > pids; echo up';
  await diesWhileRunning(it, command, 'pids');
  await until(() => it.spool.readExit());
  const outcome = await attach(command, it.context);
  const note = '[something it started still runs in the background; its output is not shown]';
  assert.deepEqual(outcome, { kind: 'finished', text: `up\n${note}` });
  const [pid = 0] = await pidsIn(join(it.workspace, 'pids'), 1);
  assert.equal(await isGone(pid), false);
  await writeFile(join(it.workspace, 'go'), '');
  assert.equal(await until(() => readFile(join(it.workspace, 'proof'), 'utf8').catch(() => null)), 'done\n');
  await until(async () => ((await readFile(it.spool.outputPath, 'utf8')) === 'up\nlate\n' ? true : null));
  assert.deepEqual(await attach(command, it.context), outcome, 'attaching again gives the same');
});

test('the spool of a call is for its owner only and holds no environment', async (t) => {
  const it = await call(t);
  await tool.run({ command: 'echo hi' }, it.context);
  assert.equal((await stat(it.context.spoolFolder)).mode & 0o777, 0o700);
  assert.equal((await stat(it.spool.folder)).mode & 0o777, 0o700);
  for (const name of await readdir(it.spool.folder)) {
    assert.doesNotMatch(await readFile(join(it.spool.folder, name), 'utf8'), /nowhere/, name);
  }
});

test('of an endless output the beginning and the end are kept, and the command goes on', async (t) => {
  const it = await call(t);
  const command = 'echo first; yes | head -c 150000000; echo; echo last; touch finished';
  const outcome = await tool.run({ command }, it.context);
  assert.equal(outcome.kind, 'finished');
  assert.match(outcome.text, /^first\n[^]*last\n\[the whole output is in .+\/output; read_file reads it\]$/);
  await stat(join(it.workspace, 'finished'));
  const { size } = await stat(it.spool.outputPath);
  assert.ok(size < 140_000_000, `${size} bytes were kept`);
});

test('what was left out of a result is in the file that the result names', async (t) => {
  const it = await call(t);
  const outcome = await tool.run({ command: 'seq 1 20000' }, it.context);
  const [, path = ''] = /\[the whole output is in (.+); read_file reads it\]$/.exec(outcome.text) ?? [];
  assert.equal(path, join(it.context.spoolFolder, it.context.callId, 'output'));
  assert.equal(await readFile(path, 'utf8'), Array.from({ length: 20_000 }, (_, index) => `${index + 1}\n`).join(''));
});

test('C92 on a system without setsid a command ends, outlives and is ended just the same', async (t) => {
  for (const withPerl of [true, false]) {
    const it = await call(t);
    const bin = join(it.workspace, '..', 'bin');
    await mkdir(bin);
    for (const name of ['bash', 'cat', 'sleep', 'tail', 'touch', ...(withPerl ? ['perl'] : [])]) {
      const found = ['/usr/bin', '/bin'].map((folder) => join(folder, name)).find((path) => existsSync(path));
      if (found !== undefined) await symlink(found, join(bin, name));
    }
    const stop = new AbortController();
    const bare = createTerminalTool({ clock: systemClock, defaultTimeoutMs: 20_000, env: { PATH: bin } });
    const context = (session: string) => ({
      ...fakeToolContext(it.workspace, stop.signal),
      spoolFolder: join(it.context.spoolFolder, session),
    });
    assert.deepEqual(await bare.run({ command: 'echo a; exit 3' }, context('a')), {
      kind: 'finished',
      text: 'a\n[exit code 3]',
    });
    const command = "(trap '' TERM; echo $BASHPID >> pids; sleep 600) & echo $$ >> pids; echo working; wait";
    const running = bare.run({ command }, context('b'));
    const pids = await pidsIn(join(it.workspace, 'pids'), 2);
    stop.abort();
    assert.deepEqual(await running, { kind: 'failed', text: 'working\n[stopped before it finished]' });
    await allGone(pids);
  }
});

test('a stop at any moment of the start leaves nothing running', async (t) => {
  for (let waitMs = 0; waitMs < 12; waitMs++) {
    const stop = new AbortController();
    const it = await call(t, stop.signal);
    const running = tool.run({ command: 'echo $$ >> pids; exec sleep 600' }, it.context);
    await sleep(systemClock, waitMs);
    stop.abort();
    assert.equal((await running).kind, 'failed');
    const pids = await readFile(join(it.workspace, 'pids'), 'utf8').catch(() => '');
    await allGone(pids.split('\n').filter(Boolean).map(Number));
    // Whoever watched over it may take a moment more to leave.
    await until(async () => ((await listRunning(join(it.context.spoolFolder, '..'))).length === 0 ? true : null));
  }
});
