/**
 * The home: the one folder that Talaria writes to. Finding it touches nothing; preparing it creates what is missing and
 * proves that it can be written to, so that a full disk or a wrong owner is said once, at the start, and in one line.
 * Nothing that exists is changed, except that an empty folder is closed to others.
 */
import type { Stats } from 'node:fs';
import { chmod, mkdir, readdir, stat, unlink, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import type { Environment } from './environment.ts';

const homeMode = 0o700;
const folders = ['logs', 'memories', 'skills'];
/** Enough that the file system must find a free block for it. */
const probeBytes = 4_096;

export type HomeErrorReason = 'not-a-folder' | 'not-writable' | 'read-only' | 'full' | 'other-owner' | 'failed';

/** The home can't be used; `message` is for the user. */
export class HomeError extends Error {
  override readonly name = 'HomeError';
  readonly reason: HomeErrorReason;

  constructor(reason: HomeErrorReason, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}

/** Absolute. `$TALARIA_HOME`, in which a leading `~` is the user's own folder, or `~/.talaria`. */
export function resolveHome(env: Environment): string {
  const userFolder = env['HOME'] === undefined || env['HOME'] === '' ? homedir() : env['HOME'];
  const wanted = env['TALARIA_HOME'] ?? '';
  if (wanted === '') return resolve(userFolder, '.talaria');
  return resolve(/^~(?=\/|$)/.test(wanted) ? join(userFolder, wanted.slice(1)) : wanted);
}

/** Idempotent; throws `HomeError`. `uid` is the user this process runs as; the superuser gets no exception, because
 * files that root leaves in a user's home lock the user out of it. */
export async function prepareHome(path: string, uid: number | null = process.getuid?.() ?? null): Promise<void> {
  try {
    const isNew = await makeFolder(path);
    if (!isNew) await checkExisting(path, await stat(path), uid);
    await Promise.all(folders.map((folder) => mkdir(join(path, folder), { recursive: true, mode: homeMode })));
    await prepareWorkspace(join(path, 'workspace'));
    await seed(join(path, 'SOUL.md'), soulSeed);
    await probe(path);
  } catch (error) {
    throw error instanceof HomeError ? error : homeError(path, error);
  }
}

/**
 * With the folders on the way to it; false if something has its name already. Not Node's own way, which takes a
 * read-only disk for a missing folder, and tries for ever where a file system makes no folders (`/proc`).
 */
async function makeFolder(path: string, hasParent = false): Promise<boolean> {
  try {
    await mkdir(path, { mode: homeMode });
    return true;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : '';
    // Some systems say first that nothing can be made there.
    if (code === 'EEXIST' || (await isThere(path))) return false;
    if (code !== 'ENOENT' || hasParent) throw error;
    await makeFolder(dirname(path));
    return makeFolder(path, true);
  }
}

function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

async function checkExisting(path: string, found: Stats, uid: number | null): Promise<void> {
  if (!found.isDirectory()) throw notAFolder(path);
  if (uid !== null && found.uid !== uid) {
    const owner = `belongs to another user (number ${found.uid}; this is ${uid})`;
    throw new HomeError('other-owner', `${path} ${owner}; run as its owner, or ${chooseAnother}.`);
  }
  const isOpenToOthers = (found.mode & 0o077) !== 0;
  if (isOpenToOthers && (await readdir(path)).length === 0) await chmod(path, homeMode);
}

/** A new one holds a word of welcome, so that there is something to read in the first minute. */
async function prepareWorkspace(path: string): Promise<void> {
  const isNew = (await mkdir(path, { recursive: true, mode: homeMode })) !== undefined;
  if (isNew) await writeFile(join(path, 'README.md'), welcome, { mode: 0o600 });
}

/** Only where nothing is yet: it is the user's from then on. */
async function seed(path: string, text: string): Promise<void> {
  await writeFile(path, text, { mode: 0o600, flag: 'wx' }).catch((error: unknown) => {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  });
}

/** Without its comment it says what an agent is told that has no such file. */
export const soulSeed = `You are Talaria, a personal agent that works for its user on their own machine. Be direct and kind.

<!--
This is who your agent is: the first lines of every new session. Make it yours: a name, a tone, the language
it answers in, what it should know about how you like things done. Comments like this one are not sent.
\`talaria prompt\` shows what is sent; sessions that have begun keep what they began with.
-->
`;

const welcome = `# Workspace

Commands that Talaria runs for you start in this folder, and files that it reads and writes are here.
Put what you want to work on into it, or set \`terminal.cwd\` to another folder:

    talaria config set terminal.cwd /path/to/a/project
`;

async function probe(path: string): Promise<void> {
  const file = join(path, `.probe-${process.pid}`);
  try {
    await writeFile(file, new Uint8Array(probeBytes), { mode: 0o600 });
  } finally {
    await unlink(file).catch(() => {
      // It was not created, which the write has reported.
    });
  }
}

const chooseAnother = 'set TALARIA_HOME to another folder';

function notAFolder(path: string): HomeError {
  return new HomeError('not-a-folder', `${path} is not a folder; move it away, or ${chooseAnother}.`);
}

function homeError(path: string, error: unknown): HomeError {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const options = { cause: error };
  switch (code) {
    case 'EEXIST':
    case 'ENOTDIR':
    // Links that lead nowhere or in a circle.
    case 'ENOENT':
    case 'ELOOP':
      return notAFolder(path);
    case 'EACCES':
    case 'EPERM':
      return new HomeError(
        'not-writable',
        `${path} can't be written to; give this user access, or ${chooseAnother}.`,
        options,
      );
    case 'EROFS':
      return new HomeError('read-only', `${path} is on a read-only file system; ${chooseAnother}.`, options);
    case 'ENOSPC':
    case 'EDQUOT':
      return new HomeError('full', `The disk that holds ${path} is full; make room, or ${chooseAnother}.`, options);
    default: {
      const detail = error instanceof Error ? error.message : String(error);
      return new HomeError('failed', `${path} can't be used: ${detail}; ${chooseAnother}.`, options);
    }
  }
}
