import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'node:test';
import type { Question } from '../../protocol/messages.ts';
import type { Gate, Plan } from '../approval.ts';
import { SandboxError, type Sandbox, type SandboxRequest } from '../sandbox.ts';
import type { Tool, ToolContext, ToolOutcome } from '../tool.ts';
import { shellArgv } from './start-supervisor.ts';
import { noSandbox, type TerminalDeps } from './terminal-deps.ts';
import { testShell } from './test-shell.ts';

/** Like a sandbox, but for the wall: what is asked of it is kept. */
function glassBox(): Sandbox & { requests: SandboxRequest[] } {
  const requests: SandboxRequest[] = [];
  const wrap: Sandbox['wrap'] = (request) => {
    requests.push(request);
    return noSandbox.wrap(request);
  };
  return { ...noSandbox, level: 'bubblewrap', description: 'glass', gaps: [], requests, wrap };
}

/** Asks about everything and remembers what; yes is yes. */
function askingGate(): Gate & { plans: Plan[] } {
  const plans: Plan[] = [];
  return {
    plans,
    consider(plan) {
      plans.push(plan);
      const question: Question = {
        text: plan.shown,
        choices: ['yes', 'no'],
        deadline: 1,
        isApproval: true,
        plan: plan.frozen,
      };
      return Promise.resolve({ kind: 'ask', question });
    },
    settle: (asked, answer) =>
      Promise.resolve(
        answer === 'yes' ? { kind: 'go', frozen: asked.plan ?? '' } : { kind: 'refuse', text: 'It was not allowed.' },
      ),
  };
}

async function place(t: test.TestContext, options: Partial<TerminalDeps> = {}) {
  const [box, gate] = [glassBox(), askingGate()];
  const it = await testShell(t, { sandbox: () => Promise.resolve(box), gate, ...options });
  const tool = it.tools.tools[0] as Tool;
  const answered = async (input: object, answer: string | null, context: ToolContext, asked: ToolOutcome) => {
    assert.ok(asked.kind === 'ask' && tool.answered);
    return tool.answered(input, answer, context, asked);
  };
  return { ...it, box, gate, tool, answered };
}

test('inside the sandbox nobody is asked', async (t) => {
  const it = await place(t);
  assert.equal(await it.run('echo free'), 'free');
  assert.deepEqual(it.gate.plans, []);
  assert.deepEqual(
    it.box.requests.map(({ network }) => network),
    ['off'],
  );
});

test('what leaves the sandbox is asked about whole, and runs exactly so after a yes', async (t) => {
  const it = await place(t);
  const context = it.context();
  const input = { command: 'echo ran >> runs; pwd', outside: true };
  const asked = await it.tool.run(input, context);
  assert.equal(asked.kind, 'ask');
  const { kind, shown, reasons, where } = it.gate.plans[0] ?? assert.fail();
  assert.deepEqual(
    { kind, shown, reasons, where },
    {
      kind: 'command',
      shown: input.command,
      reasons: ['runs outside any sandbox'],
      where: `outside the sandbox, in ${it.workspace}`,
    },
  );
  assert.deepEqual(await readdir(it.workspace), [], 'nothing ran before the answer');
  const outcome = await it.answered(input, 'yes', context, asked);
  assert.deepEqual(outcome, { kind: 'finished', text: it.workspace });
  assert.deepEqual(
    await it.answered(input, 'yes', context, asked),
    outcome,
    'an answer heard again runs nothing again',
  );
  assert.equal(await readFile(join(it.workspace, 'runs'), 'utf8'), 'ran\n');
});

test('what goes on in the background says so, and is another permission', async (t) => {
  const it = await place(t);
  await it.outcome('sleep 600', { outside: true });
  await it.outcome('sleep 600', { outside: true, background: true });
  const [here, beside] = it.gate.plans;
  assert.equal(beside?.where, `outside the sandbox, in ${it.workspace}, in the background`);
  assert.notEqual(beside?.subject, here?.subject);
});

test('a no, and no answer, run nothing', async (t) => {
  const it = await place(t);
  for (const answer of ['no', null]) {
    const context = it.context();
    const input = { command: 'touch ran', outside: true };
    const asked = await it.tool.run(input, context);
    assert.deepEqual(await it.answered(input, answer, context, asked), { kind: 'failed', text: 'It was not allowed.' });
  }
  assert.deepEqual(await readdir(it.workspace), []);
});

test('what changed after it was approved is not run: a script, the folder, the environment, the state of the shell', async (t) => {
  const env: Record<string, string> = { PATH: '/usr/bin:/bin', LANG: 'C' };
  const it = await place(t, { env, filesOf: () => ['script.sh'] });
  await writeFile(join(it.workspace, 'script.sh'), 'echo good\n');
  const changes: [object, () => Promise<unknown>][] = [
    [{ outside: true }, () => writeFile(join(it.workspace, 'script.sh'), 'echo evil\n')],
    [{ outside: true }, async () => (env['LANG'] = 'evil')],
    [{ hosts: ['example.com'] }, () => it.run('sh() { echo evil; }')],
    [{ outside: true }, () => it.run('mkdir -p sub; cd sub')],
  ];
  for (const [more, change] of changes) {
    const context = it.context();
    const input = { command: 'sh script.sh', ...more };
    const asked = await it.tool.run(input, context);
    await change();
    const outcome = await it.answered(input, 'yes', context, asked);
    assert.equal(outcome.kind, 'failed');
    assert.match(
      outcome.text,
      /^The command was not run: something that it depends on .* changed after it was approved\./,
    );
  }
});

test('a link that takes the place of a folder in the moment of the start leads nowhere', async (t) => {
  const it = await place(t);
  const [approved, other] = [join(it.workspace, 'approved'), join(it.workspace, 'other')];
  await mkdir(other);
  await symlink(other, approved);
  const [program = '', ...given] = shellArgv('touch ran', approved);
  const { status, stdout } = spawnSync(program, given, { cwd: approved, encoding: 'utf8' });
  assert.deepEqual(
    { status, stdout, left: await readdir(other) },
    { status: 126, stdout: 'The command was not run: its folder was replaced in the moment of the start.\n', left: [] },
  );
});

test('hosts are asked for by name, once allowed they are the way, and what comes back is marked', async (t) => {
  const asked: (readonly string[])[] = [];
  const network: TerminalDeps['network'] = (_session, hosts) => {
    asked.push(hosts);
    return Promise.resolve(hosts.length === 0 ? 'off' : { proxySocket: '/nowhere' });
  };
  const it = await place(t, { network, allowedHosts: [] });
  const input = { command: 'echo fetched', hosts: ['Example.com', 'example.com'] };
  const context = it.context();
  const question = await it.tool.run(input, context);
  const plan = it.gate.plans[0] ?? assert.fail();
  assert.deepEqual(
    [plan.kind, plan.subject, plan.reasons, plan.lasting],
    ['send', 'commands reach example.com', ['reaches example.com'], 'every command may reach example.com'],
  );
  assert.deepEqual(await it.answered(input, 'yes', context, question), {
    kind: 'finished',
    text: 'fetched',
    untrusted: 'web',
  });
  assert.deepEqual(asked, [['example.com']]);
  assert.deepEqual(
    it.box.requests.map((request) => request.network),
    [{ proxySocket: '/nowhere' }],
  );
  assert.match(await it.run('echo offline'), /offline$/);
  assert.deepEqual(it.box.requests.map((request) => request.network).at(-1), 'off');
});

test('without a sandbox every command asks; what is refused is refused there too', async (t) => {
  const judge: TerminalDeps['judge'] = (command) =>
    command.includes('forbidden') ? { kind: 'refused', reason: 'it would end the machine' } : { kind: 'plain' };
  const it = await place(t, { sandbox: () => Promise.resolve(noSandbox), judge });
  assert.equal((await it.outcome('echo a')).kind, 'ask');
  assert.deepEqual(
    it.gate.plans.map(({ reasons }) => reasons),
    [['runs outside any sandbox']],
  );
  assert.deepEqual(await it.outcome('forbidden'), {
    kind: 'failed',
    text: 'The command was refused: it would end the machine. No approval makes it run; do it another way.',
  });
});

test('what a look at the command finds is asked, and a turn that read a stranger asks before it can send', async (t) => {
  const judge: TerminalDeps['judge'] = (command) =>
    command.startsWith('rm') ? { kind: 'asks', reasons: ['removes files'] } : { kind: 'plain' };
  const it = await place(t, { judge, allowedHosts: ['example.com'] });
  await it.outcome('rm -r x');
  await it.tool.run({ command: 'echo b' }, { ...it.context(), untrusted: 'web' });
  assert.deepEqual(
    it.gate.plans.map(({ reasons }) => reasons),
    [['removes files'], ['can send data to example.com, and this turn has read what a stranger wrote']],
  );
});

test('whatever else it asks for, a command that could send data out says so', async (t) => {
  const judge: TerminalDeps['judge'] = () => ({ kind: 'asks', reasons: ['removes files'] });
  const it = await place(t, { judge });
  await it.outcome('rm -r x');
  await it.outcome('rm -r x', { hosts: ['example.com'] });
  await it.outcome('rm -r x', { outside: true });
  assert.deepEqual(
    it.gate.plans.map(({ kind, canSend, lasting }) => [kind, canSend, lasting]),
    [
      ['command', undefined, undefined],
      ['command', true, undefined],
      ['command', true, 'this command, also when files that it uses have changed'],
    ],
  );
});

test('no sandbox to be had is told, and nothing runs', async (t) => {
  const it = await place(t, { sandbox: () => Promise.reject(new SandboxError('install bubblewrap.')) });
  assert.deepEqual(await it.outcome('touch ran'), {
    kind: 'failed',
    text: 'The command was not started: install bubblewrap.',
  });
  assert.deepEqual(await readdir(it.workspace), []);
});

test('a call taken up again that had not begun is considered again', async (t) => {
  const it = await place(t);
  const attached = await it.tool.attach?.({ command: 'touch ran', outside: true }, it.context());
  assert.equal(attached?.kind, 'ask');
  assert.deepEqual(await readdir(it.workspace), []);
});

test('a call that was allowed and had not begun runs without another question, and one that was not does not', async (t) => {
  const it = await place(t);
  const input = { command: 'echo ran >> runs', outside: true };
  for (const [answer, kind] of [
    ['no', 'failed'],
    ['yes', 'finished'],
  ] as const) {
    const context = it.context();
    const asked = await it.tool.run(input, context);
    assert.ok(asked.kind === 'ask');
    assert.equal((await it.tool.attach?.(input, context, { asked, answer }))?.kind, kind);
  }
  assert.equal(it.gate.plans.length, 2, 'each was asked about once');
  assert.equal(await readFile(join(it.workspace, 'runs'), 'utf8'), 'ran\n');
});
