/**
 * `talaria restore`: puts a home back as a backup has it. The archive is unpacked beside what is there and its database
 * opened and read through before anything is touched. What was in the home is moved aside, never deleted. A crash in
 * between leaves both sides complete, each file in one of two folders, and the database is what changes last.
 */
import { lstat, mkdir, mkdtemp, open, readdir, rename, rm, rmdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { heldBy } from '../app/held-by.ts';
import { prepareHome, resolveHome } from '../config/home.ts';
import type { CommandInput } from './arguments.ts';
import { CliError, exitCodes, type CommandContext, type ExitCode } from './command.ts';
import { inspectStore, lockHome } from '../app/home-store.ts';
import { unpackBackup } from './unpack-backup.ts';

const databaseName = 'state.db';
const stagingPrefix = '.restore-';
const asidePrefix = 'before-restore-';

export async function restoreCommand(context: CommandContext, input: CommandInput): Promise<ExitCode> {
  const home = resolveHome(context.env);
  const [source = ''] = input.operands;
  if (!(await isFile(source))) throw new CliError('failed', `${source} is not a file; give the backup to restore`);
  const wasEmpty = await isEmpty(home);
  await prepareHome(home);
  const claim = lockHome(home, 'restore');
  if (claim.kind === 'held') throw new CliError('failed', heldBy(home, claim.holder));
  try {
    const hasDatabase = await isFile(join(home, databaseName));
    if (hasDatabase && !input.has('force')) {
      const advice = 'with --force it is moved aside first';
      throw new CliError('failed', `${home} has conversations already (${databaseName}); ${advice}`);
    }
    // In a home that was made just now there is nothing of the user's to keep.
    const keep = hasDatabase || !wasEmpty;
    return await restoreInto(context, { home, source, keep });
  } finally {
    claim.lock.release();
  }
}

interface Restore {
  readonly home: string;
  readonly source: string;
  /** Whether what is in the home is moved aside or given up. */
  readonly keep: boolean;
}

async function restoreInto({ streams, interrupt }: CommandContext, restore: Restore): Promise<ExitCode> {
  const { home, source, keep } = restore;
  const staging = await mkdtemp(join(home, stagingPrefix));
  try {
    const files = await unpackBackup(source, staging, interrupt);
    await mustBeWhole(staging, source);
    interrupt.throwIfAborted();
    const aside = await exchange(home, staging);
    streams.note(`restored ${files} files from ${source} into ${home}`);
    if (aside !== null && !keep) await rm(aside, { recursive: true });
    else if (aside !== null) streams.note(`what was there before is in ${aside}`);
    return exitCodes.ok;
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}

/** The database of the archive opens with this version and has no damage. */
async function mustBeWhole(staging: string, source: string): Promise<void> {
  const database = join(staging, databaseName);
  // Not a link either: what is opened and checked here must be what stays.
  const isThere = await lstat(database).then(
    (found) => found.isFile(),
    () => false,
  );
  if (!isThere) {
    throw new CliError('failed', `${source} has no ${databaseName} in it; it is not a backup of Talaria`);
  }
  const { damage } = await inspectStore(database);
  if (damage.length > 0) {
    throw new CliError('failed', `the database in ${source} is damaged (${damage[0]}); use another copy`);
  }
}

/** Moves what is in the home aside and what was unpacked to its place. Returns where the old things are now, if any. */
async function exchange(home: string, staging: string): Promise<string | null> {
  const stamp = new Date().toISOString().replace(/[:.]/g, '');
  const aside = join(home, `${asidePrefix}${stamp}`);
  await mkdir(aside, { mode: 0o700 });
  for (const name of databaseLast(await readdir(home))) {
    if (isMovable(name)) await moveAside(home, aside, name);
  }
  await syncFolder(aside);
  for (const name of databaseLast(await readdir(staging))) await rename(join(staging, name), join(home, name));
  await syncFolder(home);
  if (!(await isEmpty(aside))) return aside;
  await rmdir(aside);
  return null;
}

/**
 * The database goes last, and before its own log: a log without a database is noticed at the next start, a database
 * without its log would quietly be an older one.
 */
function databaseLast(names: readonly string[]): string[] {
  const rank = (name: string) => (name === databaseName ? 1 : name.startsWith(`${databaseName}-`) ? 2 : 0);
  return [...names].sort((a, b) => rank(a) - rank(b));
}

/** The lock is ours at this moment, and older leftovers stay where their owner knows them. */
function isMovable(name: string): boolean {
  const stays = name === 'home.lock' || name === 'holder.json';
  return !stays && !name.startsWith(stagingPrefix) && !name.startsWith(asidePrefix);
}

/** Empty folders are made anew by any start; keeping them would leave a heap of nothing after the first restore. */
async function moveAside(home: string, aside: string, name: string): Promise<void> {
  const path = join(home, name);
  try {
    await rmdir(path);
  } catch {
    // Not empty, or not a folder: something to keep.
    await rename(path, join(aside, name));
  }
}

async function isFile(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isFile(),
    () => false,
  );
}

/** A folder that is not there is empty too. */
async function isEmpty(path: string): Promise<boolean> {
  return readdir(path).then(
    (names) => names.length === 0,
    () => true,
  );
}

async function syncFolder(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
