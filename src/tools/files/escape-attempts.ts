/** Ways out of the workspace, for a test: each with what has to be there first. Every path is tried with every tool. */
import { execFile } from 'node:child_process';
import { link, mkdir, open, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';

/** What attempts look for, and what stands beside it: that is in no attempt, and must never be seen by the model. */
export const bait = 'BAIT-7c1f';
export const canary = 'CANARY-93ab';

export interface EscapeScene {
  readonly top: string;
  readonly home: string;
  readonly workspace: string;
  /** A folder beside the home, with `secret.txt` in it. */
  readonly outside: string;
}

export async function plantCanaries({ top, home, outside }: EscapeScene): Promise<void> {
  await mkdir(join(outside, 'deep'), { recursive: true });
  await mkdir(join(home, 'spool/ses_other'), { recursive: true });
  await mkdir(join(home, 'logs'));
  const files = [
    join(outside, 'secret.txt'),
    join(outside, 'deep/secret.txt'),
    join(top, 'beside.txt'),
    ...['.env', 'config.yaml', 'state.db', 'logs/gateway.log', 'spool/ses_other/out.txt'].map((name) =>
      join(home, name),
    ),
  ];
  for (const path of files) await writeFile(path, `${bait} ${canary} in ${relative(top, path)}\n`);
}

/** Paths into the machine itself: only looked at, so that a test that finds a hole does no harm. */
export function isSystemPath(path: string): boolean {
  const isTest = /^\/proc\/.*\/(root|fd)\//.test(path);
  return !isTest && /^\/(dev|proc|sys|etc)\/|^\/$|^~|^top-link(\/etc.*)?$|^(proc|proc-pid|zero|stdin)-link$/.test(path);
}

/** The paths; `end` lets go of what is held open for them. */
export async function plantEscapes(scene: EscapeScene): Promise<{ paths: string[]; end: () => Promise<void> }> {
  const { top, home, workspace, outside } = scene;
  const inside = (name: string) => join(workspace, name);
  const secret = join(outside, 'secret.txt');
  await mkdir(inside('sub/deep'), { recursive: true });
  await writeFile(inside('plain.txt'), 'nothing special\n');

  const links: Readonly<Record<string, string>> = {
    'file-link': secret,
    'relative-link': '../../outside/secret.txt',
    'folder-link': outside,
    'top-link': '/',
    'home-link': '..',
    'env-link': '../.env',
    'proc-link': '/proc/self/environ',
    'proc-root-link': `/proc/self/root${secret}`,
    'proc-pid-link': `/proc/${process.pid}/cwd`,
    'zero-link': '/dev/zero',
    'stdin-link': '/dev/stdin',
    'dangling-out': join(outside, 'made-by-link.txt'),
    'dangling-home': '../made-by-link.txt',
    'self-link': '.',
    'sub/up': '../..',
    ring: 'ring',
  };
  for (const [name, target] of Object.entries(links)) await symlink(target, inside(name));
  await symlink(secret, inside('chain-0'));
  for (let step = 1; step <= 12; step += 1) await symlink(`chain-${step - 1}`, inside(`chain-${step}`));
  await symlink('folder-link', inside('folder-chain'));

  await link(secret, inside('hard-outside'));
  await link(join(home, '.env'), inside('hard-env'));
  await link(join(home, 'logs/gateway.log'), inside('sub/hard-log'));

  const run = promisify(execFile);
  await run('mkfifo', [inside('pipe')]);
  await symlink('pipe', inside('pipe-link'));
  // Only root may make devices.
  await run('mknod', [inside('device'), 'c', '1', '5']).catch(() => {});
  await writeFile(inside('.git'), `gitdir: ${outside}\n`);
  const socket = createServer();
  await new Promise<void>((resolve) => socket.listen(inside('socket'), resolve));
  const held = await open(secret, 'r');

  const paths = [
    ...Object.keys(links).filter(
      (name) => !['folder-link', 'top-link', 'home-link', 'self-link', 'sub/up'].includes(name),
    ),
    secret,
    join(home, '.env'),
    '../../outside/secret.txt',
    '../.env',
    '../config.yaml',
    '../state.db',
    '../logs/gateway.log',
    '../spool/ses_other/out.txt',
    '../../beside.txt',
    './././../../outside/./secret.txt',
    'sub/../../../outside/secret.txt',
    'sub/deep/../../../.env',
    'missing/../../../outside/secret.txt',
    '..//..//outside//secret.txt',
    `${workspace}/../.env`,
    `//${secret}`,
    `/..${secret}`,
    'folder-link/secret.txt',
    'folder-link/./deep/../secret.txt',
    'folder-chain/deep/secret.txt',
    'folder-link/new/made.txt',
    'top-link/etc/passwd',
    `top-link${secret}`,
    'home-link/.env',
    'home-link/workspace/../.env',
    'self-link/self-link/../.env',
    'sub/up/.env',
    'sub/up/config.yaml',
    'chain-12',
    'hard-outside',
    'hard-env',
    'sub/hard-log',
    'pipe',
    'pipe-link',
    'device',
    'socket',
    '/dev/stdin',
    '/dev/zero',
    '/dev/mem',
    '/dev/tty',
    '/proc/1/environ',
    '/proc/kcore',
    '/etc/passwd',
    '/etc/shadow',
    `/dev/fd/${held.fd}`,
    `/proc/self/fd/${held.fd}`,
    `/proc/${process.pid}/fd/${held.fd}`,
    '/proc/self/environ',
    '/proc/self/mem',
    `/proc/self/root${secret}`,
    `/proc/${process.pid}/root${secret}`,
    `/proc/self/task/${process.pid}/root${secret}`,
    `/proc/self/cwd/package.json`,
    '/sys/kernel/uevent_helper',
    `${secret}\0.txt`,
    `plain.txt\0/../../../.env`,
    'x'.repeat(300),
    `${'sub/../'.repeat(800)}../.env`,
    `${'./'.repeat(2_100)}../.env`,
    '~/.ssh/id_rsa',
    '~root/.bashrc',
    '.\u200b./.env',
    '\uff0e\uff0e/.env',
    '..\\.env',
    '%2e%2e/.env',
    `file://${secret}`,
    'pl\ud800ain',
    '../workspace/../.ENV',
    `${home.toUpperCase()}/.env`,
    '',
    '..',
    '../..',
    '/',
    'folder-link',
    'folder-link/',
    'folder-link/.',
    'home-link',
    'top-link',
    'plain.txt/../../.env',
    'plain.txt/',
    outside,
    home,
    top,
  ];
  return {
    paths,
    async end() {
      await held.close();
      await new Promise((resolve) => socket.close(resolve));
    },
  };
}

/** What is given to ripgrep as words and might be taken for something else. */
export const searchEscapes: readonly Readonly<Record<string, unknown>>[] = [
  { pattern: '--pre=cat' },
  { pattern: '--follow' },
  { pattern: '-f/etc/passwd' },
  { pattern: bait, glob: '--pre=cat' },
  { pattern: bait, glob: '../**' },
  { pattern: bait, glob: '/**' },
  { pattern: bait, glob: '**/../../**' },
  { pattern: bait, glob: '!' },
  { pattern: bait, glob: '.env' },
  { pattern: bait, path: '--follow' },
  { pattern: bait, path: '-' },
  { pattern: bait, path: 'folder-link/deep' },
  { pattern: bait, path: 'hard-outside' },
  { pattern: bait, path: 'file-link' },
  { pattern: bait, context: 10, limit: 200 },
  { pattern: 'secret', by: 'name' },
  { pattern: '../*', by: 'name' },
  { pattern: '/**/secret.txt', by: 'name' },
  { pattern: '*.env', by: 'name', path: '..' },
  { pattern: '.env', by: 'name' },
];
