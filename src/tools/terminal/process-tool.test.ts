import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'node:test';
import { systemClock, type Clock } from '../../lib/clock.ts';
import type { Gate, Plan } from '../approval.ts';
import { createProcessTool } from './process-tool.ts';
import { linePattern } from './line-pattern.ts';
import { listProcesses, processState } from './process-table.ts';
import { summary } from './process-words.ts';
import { listHosts } from './session-host.ts';
import { noSandbox } from './terminal-deps.ts';
import { createTerminalTools } from './terminal-tools.ts';
import { until } from './test-processes.ts';
import { allowEverything, testBubblewrap, testShell } from './test-shell.ts';

const sandbox = existsSync('/usr/bin/bwrap') ? testBubblewrap : noSandbox;
const options = { sandbox: () => Promise.resolve(sandbox) };
const needsBubblewrap = { skip: sandbox === noSandbox ? 'bubblewrap is not installed' : false };

test('a process in the background is listed, polled, read, waited for and ended', async (t) => {
  const it = await testShell(t, options);
  assert.equal(await it.process({ action: 'list' }), 'No process was started in the background.');
  const command = 'echo one; while [ ! -e go ]; do sleep 0.02; done; echo two; exit 3';
  const started = await it.run(command, { background: true });
  assert.equal(started, '[p1 runs in the background; process shows what it prints and ends it]');
  const poll = () => it.process({ action: 'poll', id: 'p1' });
  assert.equal(await poll(), 'one\n[running]');
  assert.equal(await poll(), '[nothing new]\n[running]');
  assert.equal(
    await it.process({ action: 'wait', id: 'p1', timeout_s: 0 }),
    '[nothing new]\n[still running; it was not ended]\n[running]',
  );
  await writeFile(join(it.workspace, 'go'), '');
  assert.equal(await it.process({ action: 'wait', id: 'p1' }), 'two\n[ended: exit code 3]');
  assert.equal(await it.process({ action: 'log', id: 'p1' }), 'one\ntwo\n[ended: exit code 3]');
  assert.match(
    await it.process({ action: 'log', id: 'p1', lines: 1 }),
    /^two\n\[the whole output is in .+\/output; read_file reads it\]\n\[ended: exit code 3\]$/,
  );
  await it.run('sleep 600', { background: true });
  assert.match(await it.process({ action: 'kill', id: 'p2' }), /^p2 ended by kill \(\d+ s\): sleep 600$/);
  assert.match(await it.process({ action: 'list' }), /^p1 ended: exit code 3 [^\n]+\np2 ended by kill [^\n]+$/);
  await it.run('sleep 600', { background: true });
  assert.equal(await it.process({ action: 'kill', id: 'p3', signal: 'HUP' }), '[SIGHUP sent to p3]');
  assert.match(
    await it.process({ action: 'wait', id: 'p3', timeout_s: 10 }),
    /\[ended: (?:exit code 129|ended by SIGHUP)\]$/,
  );
  assert.equal(
    await it.process({ action: 'poll', id: 'p9' }),
    'There is no process p9; list shows those of this session.',
  );
  assert.equal(await it.process({ action: 'kill' }), 'kill needs the id of a process; list shows them.');
});

test('a process that was lost is as old as what was last heard of it', needsBubblewrap, async (t) => {
  const it = await testShell(t, options);
  await it.run('echo up; sleep 600', { background: true });
  const folder = join(it.spoolRoot, it.sessionId);
  const [host] = await listHosts(folder);
  assert.ok(host);
  const [pid = ''] = (await readFile(join(host.folder, 'claim'), 'utf8')).split('\n');
  globalThis.process.kill(Number(pid), 'SIGKILL');
  const [found] = await listProcesses(folder);
  assert.ok(found);
  await until(async () => ((await processState(found)).kind === 'lost' ? true : null));
  const later: Clock = { ...systemClock, now: () => systemClock.now() + 3_600_000 };
  assert.match(
    await summary(later, found),
    /^p1 lost with its sandbox or the machine; .* \(\d s\): echo up; sleep 600$/,
  );
});

test('what fails at once is told at once', async (t) => {
  const it = await testShell(t, options);
  assert.match(
    await it.run('no-such-server', { background: true }),
    /no-such-server: command not found\n\[p1 ended at once\]\n\[exit code 127\]$/,
  );
});

test('a process reads what is written to it, its end of input and an interrupt, with a terminal and without', async (t) => {
  const it = await testShell(t, options);
  const write = (id: string, input: string) => it.process({ action: 'write', id, input });
  await it.run('while read -r line; do echo "got $line"; done; echo end', { background: true });
  assert.equal(await write('p1', 'hello'), '[written to p1; poll shows what it answers]');
  await write('p1', 'ctrl-d');
  assert.equal(await it.process({ action: 'wait', id: 'p1' }), 'got hello\nend\n[ended: exit code 0]');
  assert.equal(await write('p1', 'more'), 'p1 does not run any more.');

  await it.run("trap 'echo interrupted; exit 4' INT; echo up; while :; do sleep 0.02; done", { background: true });
  await until(async () => ((await it.process({ action: 'log', id: 'p2' })).startsWith('up') ? true : null));
  assert.equal(await write('p2', 'ctrl-c'), '[SIGINT sent to p2]');
  assert.match(await it.process({ action: 'wait', id: 'p2' }), /interrupted\n\[ended: exit code 4\]$/);

  await it.run("trap 'echo interrupted; exit 4' INT; read -r line; echo got $line; cat", {
    background: true,
    pty: true,
  });
  await write('p3', 'typed');
  await until(async () => ((await it.process({ action: 'log', id: 'p3' })).includes('got typed') ? true : null));
  await write('p3', 'ctrl-c');
  assert.match(await it.process({ action: 'wait', id: 'p3' }), /\[ended: exit code (?:4|130)\]$/);
});

test('C44 C92 processes, their names and what they print survive a kill of the process that started them', async (t) => {
  const it = await testShell(t, options);
  const script = `
    const { testShell, testBubblewrap } = await import(${JSON.stringify(new URL('./test-shell.ts', import.meta.url).href)});
    const { noSandbox } = await import(${JSON.stringify(new URL('./terminal-deps.ts', import.meta.url).href)});
    const sandbox = ${sandbox === noSandbox ? 'noSandbox' : 'testBubblewrap'};
    const it = await testShell({ after() {} }, { sandbox: () => Promise.resolve(sandbox) }, ${JSON.stringify(it.sessionId)}, ${JSON.stringify(join(it.workspace, '..'))});
    await it.run('echo run >> runs; echo before; read -r line; echo "got $line"; exit 5', { background: true, notify: 'exit' });
    process.send(await it.process({ action: 'poll', id: 'p1' }));
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const polled = await new Promise((resolve) => child.once('message', resolve));
  assert.equal(polled, 'before\n[running]');
  child.kill('SIGKILL');
  await new Promise((resolve) => child.once('exit', resolve));

  assert.equal(
    await it.process({ action: 'poll', id: 'p1' }),
    '[nothing new]\n[running]',
    'what was shown stays shown',
  );
  await it.process({ action: 'write', id: 'p1', input: 'hello' });
  assert.equal(await it.process({ action: 'wait', id: 'p1' }), 'got hello\n[ended: exit code 5]');
  assert.equal(await readFile(join(it.workspace, 'runs'), 'utf8'), 'run\n');
  await it.run('sleep 600', { background: true });
  assert.match(await it.process({ action: 'list' }), /^p1 ended[^\n]+\np2 running/);

  await it.tools.watch.start();
  const note = await until(async () => it.told[0] ?? null);
  assert.deepEqual(
    [note.sessionId, note.text.split('\n')[0]],
    [it.sessionId, '[p1 (echo run >> runs; echo before; read -r line; echo "got $line"; exit 5) ended: exit code 5]'],
  );
});

test('a session is told once of a line and of an end, and again by nobody', async (t) => {
  const it = await testShell(t, options);
  await it.run('echo starting; sleep 0.3; echo "Listening on port 8080"; sleep 600', { notify: 'Listening on * 80' });
  await it.run('sleep 0.4; echo done; exit 2', { notify: 'exit' });
  await it.run('sleep 0.4; echo other', { notify: 'never printed' });
  await until(async () => (it.told.length === 3 ? true : null));
  assert.deepEqual(it.told.map(({ text }) => text).sort(), [
    '[p1 (echo starting; sleep 0.3; echo "Listening on port 8080"; sleep 600) printed:]\nListening on port 8080',
    '[p2 (sleep 0.4; echo done; exit 2) ended: exit code 2]\ndone',
    '[p3 (sleep 0.4; echo other) ended: exit code 0, without printing "never printed"]\nother',
  ]);
  const told: string[] = [];
  const again = createTerminalTools({ ...it.deps, tell: async ({ text }) => void told.push(text) });
  await again.watch.start();
  again.watch.close();
  assert.deepEqual(told, []);
});

test('what could not be told is told later', async (t) => {
  const it = await testShell(t, options);
  await it.run('true', { notify: 'exit' });
  await until(async () => (it.told.length === 1 ? true : null));
  let isDown = true;
  const told: string[] = [];
  const tell = async ({ id }: { id: string }) => {
    if (isDown) throw new Error('the disk is full');
    told.push(id);
  };
  const down = createTerminalTools({ ...it.deps, tell });
  const [terminal] = down.tools;
  await terminal?.run({ command: 'true', notify: 'exit' }, it.context());
  down.watch.close();
  isDown = false;
  const up = createTerminalTools({ ...it.deps, tell });
  await up.watch.start();
  await until(async () => (told.length === 1 ? true : null));
  up.watch.close();
});

test('a pattern takes a time in proportion to the line', () => {
  const fits = linePattern('a*a*a*a*a*a*a*a*a*b');
  assert.equal(fits('a'.repeat(200_000)), false);
  assert.deepEqual(['Server ready', 'ready', 'not yet'].map(linePattern('ready')), [true, true, false]);
  assert.deepEqual(['on port 80', 'port on', 'on'].map(linePattern('on*port')), [true, false, false]);
});

test('a poll that was interrupted shows the same again, and what may have been written is not written twice', async (t) => {
  const it = await testShell(t, options);
  await it.run('echo one; sleep 600', { background: true });
  const tool = createProcessTool({ clock: systemClock, gate: allowEverything });
  const context = it.context();
  const first = await tool.run({ action: 'poll', id: 'p1' }, context);
  assert.deepEqual(await tool.attach?.({ action: 'poll', id: 'p1' }, context), first);
  assert.equal((await tool.attach?.({ action: 'write', id: 'p1', input: 'x' }, it.context()))?.kind, 'unknown');
});

test('without a sandbox what is written to a process asks like a command, and is written exactly so after a yes', async (t) => {
  const plans: Plan[] = [];
  const gate: Gate = {
    consider: (plan) => {
      plans.push(plan);
      return Promise.resolve({
        kind: 'ask',
        question: { text: '', choices: ['yes'], deadline: 1, isApproval: true, plan: plan.frozen },
      });
    },
    settle: (asked, answer) =>
      Promise.resolve(answer === 'yes' ? { kind: 'go', frozen: asked.plan ?? '' } : { kind: 'refuse', text: 'No.' }),
  };
  const it = await testShell(t, { sandbox: () => Promise.resolve(noSandbox) });
  await it.run('read -r line; eval "$line"', { background: true });
  const tool = createProcessTool({ clock: systemClock, gate });
  const input = { action: 'write', id: 'p1', input: 'touch done' } as const;
  const asked = await tool.run(input, it.context());
  assert.ok(asked.kind === 'ask');
  assert.deepEqual(
    plans.map(({ kind, shown, reasons }) => ({ kind, shown, reasons })),
    [
      {
        kind: 'command',
        shown: 'read -r line; eval "$line"\n<<< touch done',
        reasons: ['runs outside any sandbox'],
      },
    ],
  );
  const answered = (given: typeof input | { action: 'write'; id: string; input: string }, said: string) =>
    tool.answered?.(given, said, it.context(), asked);
  assert.deepEqual(await answered(input, 'no'), { kind: 'failed', text: 'No.' });
  assert.equal((await answered({ ...input, input: 'touch other' }, 'yes'))?.kind, 'failed');
  assert.equal((await answered(input, 'yes'))?.kind, 'finished');
  await it.process({ action: 'wait', id: 'p1' });
  assert.deepEqual(await readdir(it.workspace), ['done']);
});

test('what the model is told about the tool is short', () => {
  const bytes = JSON.stringify(createProcessTool({ clock: systemClock, gate: allowEverything }).definition).length;
  assert.ok(bytes <= 700, `${bytes} bytes are sent with every request`);
});
