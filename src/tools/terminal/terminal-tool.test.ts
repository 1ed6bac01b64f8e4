import assert from 'node:assert/strict';
import { mkdir, readFile, realpath, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'node:test';
import { systemClock, type Clock } from '../../lib/clock.ts';
import { fakeToolContext } from '../fake-tool-context.ts';
import type { ToolOutcome } from '../tool.ts';
import { createTerminalTool } from './terminal-tool.ts';
import { allGone, folderToEnd, isGone, pidsIn, until } from './test-processes.ts';

const environment = { PATH: process.env['PATH'], HOME: '/nowhere', OPENAI_API_KEY: 'sk-not-for-commands' };

function terminal(options: { clock?: Clock; defaultTimeoutMs?: number } = {}) {
  return createTerminalTool({ clock: systemClock, defaultTimeoutMs: 20_000, env: environment, ...options });
}

/** Real time, or a multiple of it, but for the one limit that a test reaches when it is ready for it. */
function manualLimit(limitMs: number, speed = 1): { clock: Clock; reach: () => void } {
  let callback = () => {};
  const clock: Clock = {
    now: () => systemClock.now() * speed,
    setTimer(delayMs, onTime) {
      if (delayMs !== limitMs) return systemClock.setTimer(delayMs / speed, onTime);
      callback = onTime;
      return () => {};
    },
  };
  return { clock, reach: () => callback() };
}

async function run(t: test.TestContext, command: string) {
  const workspace = await realpath(await folderToEnd(t));
  const context = fakeToolContext(workspace);
  return { outcome: await terminal().run({ command }, context), workspace, shown: context.shown.join('') };
}

test('a command runs in the workspace with bash, and what it printed is the result', async (t) => {
  const { outcome, workspace, shown } = await run(
    t,
    'pwd; echo "${BASH_VERSION:+bash}"; cat; [ /dev/stdin -ef /dev/null ] && echo no input',
  );
  assert.deepEqual(outcome, { kind: 'finished', text: `${workspace}\nbash\nno input` });
  assert.equal(shown, `${workspace}\nbash\nno input\n`);
});

test('an exit code is told only if it is not 0', async (t) => {
  assert.deepEqual((await run(t, 'echo out; exit 3')).outcome, { kind: 'finished', text: 'out\n[exit code 3]' });
  assert.deepEqual((await run(t, 'false')).outcome, { kind: 'finished', text: '[exit code 1]' });
  assert.deepEqual((await run(t, 'true')).outcome, { kind: 'finished', text: '[no output]' });
});

test('an unknown command and a syntax error are results like any other', async (t) => {
  const unknown = (await run(t, 'no-such-command-here')).outcome;
  assert.match(unknown.text, /no-such-command-here: command not found\n\[exit code 127\]$/);
  const wrong = (await run(t, 'if then')).outcome;
  assert.match(wrong.text, /syntax error[^]*\[exit code 2\]$/);
});

test('the signal that ended a command is named, where the shell tells it from an exit code', async (t) => {
  const { outcome } = await run(t, 'echo before; kill -9 $$');
  assert.match(outcome.text, /^before\n\[(?:ended by SIGKILL|exit code 137)\]$/);
  assert.deepEqual((await run(t, 'exit 137')).outcome, { kind: 'finished', text: '[exit code 137]' });
});

test('an interrupt reaches a command that asks for it', async (t) => {
  const { outcome } = await run(t, "trap 'echo interrupted' INT; kill -INT $$; kill -INT 0; echo after");
  assert.deepEqual(outcome, { kind: 'finished', text: 'interrupted\ninterrupted\nafter' });
});

test('stdout and stderr stand in the order of printing', async (t) => {
  const { outcome } = await run(t, 'for i in 1 2 3 4 5; do echo out $i; echo err $i >&2; done');
  const expected = [1, 2, 3, 4, 5].flatMap((index) => [`out ${index}`, `err ${index}`]).join('\n');
  assert.deepEqual(outcome, { kind: 'finished', text: expected });
});

test('no secret of the environment reaches a command', async (t) => {
  const { outcome } = await run(t, 'env');
  assert.match(outcome.text, /^HOME=\/nowhere$/m);
  assert.doesNotMatch(outcome.text, /sk-not-for-commands|OPENAI/);
});

test('a folder inside the workspace can be chosen, one outside or a missing one is refused', async (t) => {
  const workspace = await realpath(await folderToEnd(t));
  await mkdir(join(workspace, 'a/b'), { recursive: true });
  await writeFile(join(workspace, 'file'), '');
  await symlink('/', join(workspace, 'root'));
  const inFolder = (cwd: string) => terminal().run({ command: 'pwd', cwd }, fakeToolContext(workspace));
  assert.deepEqual(await inFolder('a/b'), { kind: 'finished', text: join(workspace, 'a/b') });
  const refused = (text: string): ToolOutcome => ({ kind: 'failed', text });
  assert.deepEqual(await inFolder('nope'), refused('The command was not started: the folder nope does not exist.'));
  assert.deepEqual(await inFolder('file'), refused('The command was not started: the folder file is not a folder.'));
  for (const cwd of ['..', 'root', '/']) assert.match((await inFolder(cwd)).text, /is outside the workspace/);
});

test('a workspace that is gone is told in a sentence', async (t) => {
  const workspace = join(await folderToEnd(t), 'gone');
  assert.deepEqual(await terminal().run({ command: 'pwd' }, fakeToolContext(workspace)), {
    kind: 'failed',
    text: `The command was not started: the folder ${workspace} (terminal.cwd) does not exist.`,
  });
});

test('a flood of output is bounded, and its end is there', async (t) => {
  const { outcome, shown } = await run(t, "yes | head -c 50000000; echo; echo 'the end'");
  assert.equal(outcome.kind, 'finished');
  assert.ok(outcome.text.length <= 30_000);
  const [, path = ''] = /\n\[the whole output is in (.+); read_file reads it\]$/.exec(outcome.text) ?? [];
  assert.match(outcome.text, /^y\ny\n[^]*\n\[… 49,9\d\d,\d{3} characters left out …\]\n[^]*y\n\nthe end\n\[.+\]$/);
  assert.equal((await stat(path)).size, 50_000_009);
  assert.ok(shown.length < 10_000_000, 'not all of a flood is shown live');
  assert.ok(shown.endsWith('the end\n'));
});

test('binary output comes as well-formed text without control characters', async (t) => {
  const { outcome, shown } = await run(t, 'head -c 100000 /dev/urandom; printf "\\0\\001\\033[31m ok"');
  assert.equal(outcome.kind, 'finished');
  assert.match(outcome.text, / ok\n\[the whole output is in .+\/output; read_file reads it\]$/);
  for (const text of [outcome.text, shown]) {
    assert.ok(text.isWellFormed());
    assert.doesNotMatch(text, /[^\P{Cc}\t\n]/u);
  }
});

test('characters are whole although the pieces they arrive in are not', async (t) => {
  const printed =
    "printf '\\xf0\\x9f'; sleep 0.05; printf '\\x98'; sleep 0.05; printf '\\x80 \\xe2\\x98'; sleep 0.05; printf '\\x83'";
  const { outcome, shown } = await run(t, printed);
  assert.deepEqual(outcome, { kind: 'finished', text: '😀 ☃' });
  assert.equal(shown, '😀 ☃');
});

test('a character that stays incomplete is marked as such', async (t) => {
  assert.deepEqual((await run(t, "printf 'ab\\xf0\\x9f'")).outcome, { kind: 'finished', text: 'ab�' });
});

test('progress lines and colours are folded for the model', async (t) => {
  const { outcome } = await run(t, "printf '\\033[32m10%%\\r50%%\\r100%%\\033[0m\\ndone\\n'");
  assert.deepEqual(outcome, { kind: 'finished', text: '100%\ndone' });
});

test('at its time limit a command ends with all its children, and the output so far is told', async (t) => {
  const workspace = await folderToEnd(t);
  const limit = manualLimit(5_000);
  const command = 'echo working; (sleep 600 & echo $! >> pids; wait) & echo $! >> pids; echo $$ >> pids; wait';
  const running = terminal({ clock: limit.clock, defaultTimeoutMs: 5_000 }).run(
    { command },
    fakeToolContext(workspace),
  );
  const pids = await pidsIn(join(workspace, 'pids'), 3);
  limit.reach();
  assert.deepEqual(await running, {
    kind: 'failed',
    text: 'working\n[ended after 5 s, its time limit; timeout_s can be up to 3600]',
  });
  await allGone(pids);
});

test('a call can name its own time limit', async (t) => {
  const workspace = await folderToEnd(t);
  const limit = manualLimit(1_500);
  const command = 'echo $$ > pids; exec sleep 600';
  const running = terminal({ clock: limit.clock }).run({ command, timeout_s: 1.5 }, fakeToolContext(workspace));
  await pidsIn(join(workspace, 'pids'), 1);
  limit.reach();
  assert.deepEqual(await running, {
    kind: 'failed',
    text: '[ended after 1.5 s, its time limit; timeout_s can be up to 3600]',
  });
});

test('what ignores the request to end is killed after the grace time, silent or not, though its parent is gone', async (t) => {
  const workspace = await folderToEnd(t);
  const limit = manualLimit(5_000, 10);
  const command = [
    "(trap '' TERM; echo $BASHPID >> pids; while :; do sleep 0.05; done) &",
    "(trap '' TERM; echo $BASHPID >> pids; exec sleep 600) > /dev/null 2>&1 &",
    'echo $$ >> pids; wait',
  ].join('\n');
  const running = terminal({ clock: limit.clock, defaultTimeoutMs: 5_000 }).run(
    { command },
    fakeToolContext(workspace),
  );
  const pids = await pidsIn(join(workspace, 'pids'), 3);
  limit.reach();
  assert.equal((await running).kind, 'failed');
  await allGone(pids);
});

test('a command may use the grace time to tidy up', async (t) => {
  const workspace = await folderToEnd(t);
  const limit = manualLimit(5_000);
  const command = "trap 'echo tidy; exit 0' TERM; echo up; echo $$ > pids; sleep 600 & wait";
  const running = terminal({ clock: limit.clock, defaultTimeoutMs: 5_000 }).run(
    { command },
    fakeToolContext(workspace),
  );
  await pidsIn(join(workspace, 'pids'), 1);
  limit.reach();
  assert.match((await running).text, /^up\ntidy\n\[ended after 5 s/);
});

test('a stop ends a command with all its children', async (t) => {
  const workspace = await folderToEnd(t);
  const stop = new AbortController();
  const context = fakeToolContext(workspace, stop.signal);
  const command = 'echo started; sleep 600 & echo $! >> pids; echo $$ >> pids; wait';
  const running = terminal().run({ command }, context);
  const pids = await pidsIn(join(workspace, 'pids'), 2);
  stop.abort();
  assert.deepEqual(await running, { kind: 'failed', text: 'started\n[stopped before it finished]' });
  await allGone(pids);
});

test('after a stop nothing is started', async (t) => {
  const workspace = await folderToEnd(t);
  const context = fakeToolContext(workspace, AbortSignal.abort());
  assert.deepEqual(await terminal().run({ command: 'touch started' }, context), {
    kind: 'failed',
    text: 'The command was not started: the turn was stopped before.',
  });
  await assert.rejects(readFile(join(workspace, 'started')));
});

test('what a command leaves in the background goes on, and the result says so', async (t) => {
  const workspace = await folderToEnd(t);
  const command =
    '(while [ ! -e go ]; do sleep 0.02; done; echo still printing; echo done > proof) & echo $! > pids; echo up';
  const outcome = await terminal().run({ command }, fakeToolContext(workspace));
  assert.deepEqual(outcome, {
    kind: 'finished',
    text: 'up\n[something it started still runs in the background; its output is not shown]',
  });
  await writeFile(join(workspace, 'go'), '');
  assert.equal(await until(() => readFile(join(workspace, 'proof'), 'utf8').catch(() => null)), 'done\n');
  await allGone(await pidsIn(join(workspace, 'pids'), 1));
});

test('a background process that holds no pipe does not delay the result', async (t) => {
  const workspace = await folderToEnd(t);
  const command = 'sleep 600 > /dev/null 2>&1 & echo $! > pids; echo up';
  const outcome = await terminal().run({ command }, fakeToolContext(workspace));
  assert.deepEqual(outcome, { kind: 'finished', text: 'up' });
  const [pid = 0] = await pidsIn(join(workspace, 'pids'), 1);
  assert.equal(await isGone(pid), false);
  process.kill(pid, 'SIGKILL');
});

test('a long command line is no matter, one that is far too long is told in a sentence', async (t) => {
  const { outcome } = await run(t, `true ${'x'.repeat(200_000)}; echo done`);
  assert.deepEqual(outcome, { kind: 'finished', text: 'done' });
  assert.deepEqual((await run(t, `true ${'x'.repeat(300_000)}`)).outcome, {
    kind: 'failed',
    text: 'The command is too long. Write it to a file with write_file and run that file.',
  });
});

test('a NUL character in a command is told in a sentence', async (t) => {
  assert.deepEqual((await run(t, 'echo a\0b')).outcome, {
    kind: 'failed',
    text: 'The command contains a NUL character. Leave it out.',
  });
});

test('quotes, newlines and odd characters reach the shell as they are', async (t) => {
  const { outcome } = await run(t, `echo "it's" 'a "test"' $((1+1)) \\\n  '☃ $HOME'\ncat <<'END'\nhere $x\nEND`);
  assert.deepEqual(outcome, { kind: 'finished', text: `it's a "test" 2 ☃ $HOME\nhere $x` });
});

test('many commands side by side keep their output apart', async (t) => {
  const workspace = await folderToEnd(t);
  const commands = Array.from({ length: 8 }, (_, index) => `for i in 1 2 3; do echo ${index}; done`);
  const outcomes = await Promise.all(
    commands.map((command) => terminal().run({ command }, fakeToolContext(workspace))),
  );
  assert.deepEqual(
    outcomes.map((outcome) => outcome.text),
    commands.map((_, index) => `${index}\n${index}\n${index}`),
  );
});

test('what the model is told about the tool stays as it is, and short', () => {
  const { definition, effect, replay } = terminal();
  assert.deepEqual([definition.name, effect, replay], ['terminal', 'write', 'attach']);
  assert.deepEqual(Object.keys(definition.parameters['properties'] as object), [
    'command',
    'timeout_s',
    'cwd',
    'stdin',
    'pty',
    'background',
    'notify',
    'hosts',
    'outside',
  ]);
  const bytes = JSON.stringify(definition).length;
  assert.ok(bytes <= 900, `${bytes} bytes are sent with every request`);
});
