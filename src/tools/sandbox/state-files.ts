/**
 * Files that a sandbox is started from: filters, scripts, lists of mounts. Each is named after what is in it and never
 * changed, so that a sandbox can be started from it at any time, by anybody who may read the folder. What nobody has
 * asked for in a while is taken away when Talaria starts.
 */
import { createHash } from 'node:crypto';
import { mkdir, readdir, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SandboxError, type SandboxRequest } from '../sandbox.ts';
import type { SandboxDeps } from './sandbox-deps.ts';
import { seccompFilter, type SocketRule } from './seccomp-filter.ts';
import { architectureOf } from './system-calls.ts';

const keptMs = 30 * 24 * 3_600_000;

export async function keepFile(deps: SandboxDeps, kind: string, content: string | Uint8Array): Promise<string> {
  const folder = join(deps.stateFolder, 'files');
  const path = join(folder, `${kind}-${createHash('sha256').update(content).digest('hex').slice(0, 32)}`);
  const now = new Date();
  try {
    await utimes(path, now, now);
    return path;
  } catch {
    // Not there yet.
  }
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const next = `${path}.${process.pid}.${Math.random().toString(36).slice(2)}`;
  await writeFile(next, content, { mode: 0o400 });
  await rename(next, path);
  return path;
}

export async function keepFilter(deps: SandboxDeps, sockets: SocketRule): Promise<string> {
  const architecture = architectureOf(deps.architecture ?? process.arch);
  if (architecture === null) throw new SandboxError('There is no sandbox for this processor; x64 and arm64 have one.');
  return keepFile(deps, 'filter', seccompFilter({ architecture, sockets }));
}

/** To be mounted over what must not be seen. */
export async function keepEmpties(deps: SandboxDeps): Promise<{ emptyFolder: string; emptyFile: string }> {
  const emptyFolder = join(deps.stateFolder, 'empty');
  await mkdir(emptyFolder, { recursive: true, mode: 0o755 });
  return { emptyFolder, emptyFile: await keepFile(deps, 'empty', '') };
}

/** The request, with these files hidden: a folder that commands may change can lie around them. */
export async function hidingState(deps: SandboxDeps, request: SandboxRequest): Promise<SandboxRequest> {
  await mkdir(deps.stateFolder, { recursive: true, mode: 0o700 });
  return { ...request, hidden: [...request.hidden, deps.stateFolder] };
}

/** For a start of Talaria. */
export async function pruneStateFiles(stateFolder: string, now: number): Promise<void> {
  const folder = join(stateFolder, 'files');
  for (const name of await readdir(folder).catch(() => [])) {
    const path = join(folder, name);
    const isOld = await stat(path).then(
      ({ mtimeMs }) => now - mtimeMs > keptMs,
      () => false,
    );
    if (isOld) await rm(path, { force: true });
  }
}
