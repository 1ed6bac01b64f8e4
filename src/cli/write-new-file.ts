/**
 * Writes a stream to a file that appears only when it is complete and on the disk, readable by its owner alone. On any
 * failure, an interruption included, nothing is left behind and an existing file is untouched.
 */
import { link, open, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { CliError } from './command.ts';

export interface NewFile {
  readonly path: string;
  /** Replace what is there. Otherwise an existing file is a failure. */
  readonly force: boolean;
  readonly signal: AbortSignal;
}

/** Returns how many bytes it wrote. */
export async function writeNewFile(file: NewFile, chunks: AsyncIterable<string | Uint8Array>): Promise<number> {
  const target = resolve(file.path);
  await refuseUnfit(target, file);
  const temporary = join(dirname(target), `.talaria-${crypto.randomUUID()}.tmp`);
  const handle = await open(temporary, 'wx', 0o600).catch((error: unknown) => {
    throw named(error, file.path);
  });
  try {
    let bytes = 0;
    try {
      for await (const chunk of chunks) {
        file.signal.throwIfAborted();
        const data = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
        await handle.writeFile(data);
        bytes += data.length;
      }
      await handle.sync();
    } finally {
      await handle.close();
    }
    if (file.force) await rename(temporary, target);
    else await linkNew(temporary, target, file.path);
    return bytes;
  } catch (error) {
    throw named(error, file.path);
  } finally {
    await rm(temporary, { force: true });
  }
}

async function refuseUnfit(target: string, file: NewFile): Promise<void> {
  const existing = await stat(target).catch(() => null);
  if (existing === null) return;
  if (!existing.isFile()) throw new CliError('wrongUsage', `${file.path} is not a regular file; use - for stdout`);
  if (!file.force) throw exists(file.path);
}

/** A link, unlike a rename, refuses to replace a file that appeared meanwhile. */
async function linkNew(temporary: string, target: string, shown: string): Promise<void> {
  try {
    await link(temporary, target);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : '';
    if (code === 'EEXIST') throw exists(shown);
    // Some file systems have no links.
    if (code !== 'EPERM' && code !== 'ENOTSUP' && code !== 'ENOSYS') throw error;
    await rename(temporary, target);
  }
}

/** The user's own name for the file, not the temporary one, belongs into the message. */
function named(error: unknown, path: string): unknown {
  return error instanceof Error && 'code' in error && 'syscall' in error ? Object.assign(error, { path }) : error;
}

function exists(path: string): CliError {
  return new CliError('failed', `${path} exists already; choose another name or overwrite it with --force`);
}
