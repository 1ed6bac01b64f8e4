/**
 * The world that escape attempts are made in, and what tells whether one succeeded: files outside and protected ones
 * inside are compared before and after, canaries note who reached them, secrets are looked for in everything that was
 * printed or left.
 */
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Sandbox } from '../sandbox.ts';
import { isRunning, setCanaries, type Canaries } from './canaries.ts';
import type { EscapeAttempt } from './escape-attempts.ts';
import { differences, snapshot } from './file-snapshot.ts';
import { quote } from './quote.ts';
import { runBriefly } from './run-briefly.ts';

export interface EscapeStage {
  /** Runs them in one sandbox and says what got out; empty if nothing did. */
  run(sandbox: Sandbox, attempts: readonly EscapeAttempt[]): Promise<string[]>;
  end(): Promise<void>;
}

const batchMs = 90_000;
const attemptS = 3;
const cleanedMs = 5_000;
const leftMs = 1_000;

export async function setEscapeStage(stateFolder: string): Promise<EscapeStage> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'escape-')));
  const mark = `${process.pid}x${Math.random().toString(36).slice(2)}`;
  const secret = `secret-${mark}`;
  await furnish(root, secret);
  const canaries = await setCanaries(root, mark, secret);
  const env = environment(root, stateFolder, mark, canaries);
  const watched = ['out', 'work', 'empty'].map((name) => join(root, name));
  const before = await Promise.all(watched.map((path) => snapshot(path)));

  async function run(sandbox: Sandbox, attempts: readonly EscapeAttempt[]): Promise<string[]> {
    const [out = '', work = '', empty = ''] = watched;
    await rm(join(work, 'scratch'), { recursive: true, force: true });
    await put(join(work, 'scratch', 'mine'), 'mine');
    const isTreeOwn = sandbox.level !== 'landlock';
    const command = await sandbox.wrap({
      argv: ['/bin/sh', '-c', batchScript(attempts)],
      cwd: work,
      env,
      writable: [work, empty],
      readable: [],
      hidden: isTreeOwn ? [join(work, 'hidden-file'), join(work, 'hidden-folder')] : [],
      network: 'off',
    });
    const state = await snapshot(join(stateFolder, 'files'));
    const { stdout, stderr } = await runBriefly(command, batchMs);
    const problems = judgeOutput(attempts, stdout, stderr);
    const printed = stdout + stderr + (await allText(join(work, 'scratch')));
    if (printed.includes(secret)) problems.push(`a secret was read: ${linesWith(stdout + stderr, secret)}`);
    // A datagram is read by this process only when it comes to its sockets.
    await sleep(10);
    problems.push(...[...canaries.hits].map((name) => `${name} was reached`));
    canaries.hits.clear();
    if (!canaries.isVictimAlive()) problems.push('the victim is dead');
    if (!(await isTrueWithin(leftMs, async () => !(await isRunning(`left-${mark}`)))))
      problems.push('a process is still there');
    await isTrueWithin(cleanedMs, async () => differences(before[2], await snapshot(empty)).length === 0);
    for (const [index, path] of (isTreeOwn ? watched : [out]).entries()) {
      for (const line of differences(before[index], await snapshot(path)))
        problems.push(`${path.slice(root.length)}: ${line}`);
    }
    const stateNow = await snapshot(join(stateFolder, 'files'));
    problems.push(...differences(state, stateNow).map((line) => `state: ${line}`));
    return problems;
  }

  return {
    run,
    end: async () => {
      await canaries.end();
      await rm(root, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}

async function put(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
}

async function furnish(root: string, secret: string): Promise<void> {
  const files: Record<string, string> = {
    'out/file': 'canary',
    secret,
    'work/hidden-file': secret,
    'work/hidden-folder/file': secret,
    'work/.bashrc': 'true\n',
    'work/.vscode/settings.json': '{}',
  };
  for (const git of ['work/.git', 'work/group/project/.git']) {
    files[`${git}/HEAD`] = 'ref: refs/heads/main\n';
    files[`${git}/config`] = '[core]\n\tbare = false\n';
    files[`${git}/hooks/existing`] = 'exit 0\n';
    for (const name of ['objects', 'refs']) await mkdir(join(root, git, name), { recursive: true });
  }
  for (const [name, text] of Object.entries(files)) await put(join(root, name), text);
  await mkdir(join(root, 'empty'));
}

function environment(root: string, stateFolder: string, mark: string, canaries: Canaries): Record<string, string> {
  return {
    PATH: '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin',
    HOME: join(root, 'empty'),
    OUT: join(root, 'out'),
    WORK: join(root, 'work'),
    EMPTY: join(root, 'empty'),
    SECRET: join(root, 'secret'),
    STATE: stateFolder,
    REALHOME: process.env['HOME'] ?? '/root',
    TCP: String(canaries.tcpPort),
    UDP: String(canaries.udpPort),
    ADDRESS: canaries.addresses.at(-1) ?? '127.0.0.1',
    SOCKET: canaries.unixSocket,
    ABSTRACT: canaries.abstractSocket,
    VICTIM: String(canaries.victimPid),
    PARENT: String(process.pid),
    MARK: mark,
  };
}

/** Each in a shell of its own with a deadline; what it prints is told apart by its number. */
function batchScript(attempts: readonly EscapeAttempt[]): string {
  const one = ({ command }: EscapeAttempt, index: number): string =>
    `N=${index} timeout -k 1 ${attemptS} /bin/sh -c ${quote(command)} </dev/null 2>&1 | sed 's/^/${index}: /'`;
  return `${attempts.map(one).join('\n')}\necho ALL TRIED`;
}

function judgeOutput(attempts: readonly EscapeAttempt[], stdout: string, stderr: string): string[] {
  const passed = stdout.split('\n').filter((line) => /^\d+: ESCAPED/.test(line));
  const problems = passed.map((line) => `it passed: ${line} (${attempts[Number.parseInt(line, 10)]?.command})`);
  const mayEndEarly = attempts.some(({ isAlone }) => isAlone);
  if (!mayEndEarly && !stdout.includes('ALL TRIED')) problems.push(`not all were tried: ${stderr.slice(-500)}`);
  return problems;
}

async function isTrueWithin(limitMs: number, condition: () => Promise<boolean>): Promise<boolean> {
  const deadline = performance.now() + limitMs;
  while (!(await condition())) {
    if (performance.now() > deadline) return false;
    await sleep(10);
  }
  return true;
}

async function allText(folder: string): Promise<string> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true }).catch(() => []);
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return (await Promise.all(files.map((path) => readFile(path, 'utf8').catch(() => '')))).join('\n');
}

function linesWith(text: string, word: string): string {
  const lines = text.split('\n').filter((line) => line.includes(word));
  return lines.slice(0, 5).join(' | ');
}
