/** For tests: where a sandbox is tried, and why it can't be. */
import { accessSync } from 'node:fs';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SandboxDeps } from './sandbox-deps.ts';

/** False, or the reason for skipping. */
export function isBubblewrapMissing(): string | false {
  if (process.platform !== 'linux') return 'there is no bubblewrap on this system';
  try {
    accessSync('/usr/bin/bwrap');
    return false;
  } catch {
    return 'bubblewrap is not installed';
  }
}

export interface TestFolder {
  readonly path: string;
  readonly deps: SandboxDeps;
  [Symbol.asyncDispose](): Promise<void>;
}

export async function testFolder(): Promise<TestFolder> {
  const path = await realpath(await mkdtemp(join(tmpdir(), 'sandbox-')));
  return {
    path,
    deps: { stateFolder: join(path, 'state'), nodePath: process.execPath },
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true, maxRetries: 3 }),
  };
}
