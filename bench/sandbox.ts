/**
 * What a sandbox costs: a command started in it against the same command started bare, and what it takes to prove one.
 * A session starts its shell in it once, so this is paid once for a session and not for every command.
 */
import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createBubblewrapSandbox } from '../src/tools/sandbox/bubblewrap-sandbox.ts';
import { chooseSandbox } from '../src/tools/sandbox/choose-sandbox.ts';
import { createLandlockSandbox } from '../src/tools/sandbox/landlock-sandbox.ts';
import { createNamespacesSandbox } from '../src/tools/sandbox/namespaces-sandbox.ts';
import type { SandboxedCommand } from '../src/tools/sandbox.ts';
import type { Row } from './measure.ts';

const runs = 40;

export async function benchSandbox(): Promise<Row[]> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-sandbox-'));
  try {
    return await measure(folder);
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function measure(folder: string): Promise<Row[]> {
  const work = join(folder, 'work');
  await mkdir(work);
  const deps = { stateFolder: join(folder, 'state'), nodePath: process.execPath };
  const env = { PATH: '/usr/bin:/bin', HOME: '/home/nobody' };
  const argv = ['/bin/sh', '-c', 'true'];
  const bare = await median({ argv, env });
  const rows: Row[] = [{ name: 'a bare command', value: bare, unit: 'ms' }];
  for (const create of [createBubblewrapSandbox, createNamespacesSandbox, createLandlockSandbox]) {
    const sandbox = create(deps);
    const request = { argv, env, cwd: work, writable: [work], readable: [], hidden: [], network: 'off' } as const;
    const started = performance.now();
    await sandbox.wrap(request);
    const prepared = performance.now();
    const command = await sandbox.wrap(request);
    const wrapped = performance.now();
    const took = await median(command);
    rows.push(
      { name: `${sandbox.level}: a command`, value: took, unit: 'ms' },
      { name: `${sandbox.level}: over a bare one`, value: took - bare, unit: 'ms' },
      { name: `${sandbox.level}: against a bare one`, value: took / bare, unit: '×' },
      { name: `${sandbox.level}: wrapping, the first time`, value: prepared - started, unit: 'ms' },
      { name: `${sandbox.level}: wrapping, after that`, value: wrapped - prepared, unit: 'ms' },
    );
  }
  for (const name of ['proving', 'choosing with a proof at hand']) {
    const started = performance.now();
    await chooseSandbox(deps, { backend: 'auto', dockerImage: '', sshTarget: null });
    rows.push({ name, value: performance.now() - started, unit: 'ms' });
  }
  return rows;
}

async function median(command: SandboxedCommand): Promise<number> {
  const times: number[] = [];
  for (let run = 0; run < runs; run++) {
    const started = performance.now();
    await end(command);
    times.push(performance.now() - started);
  }
  return times.toSorted((left, right) => left - right)[Math.floor(runs / 2)] ?? 0;
}

function end({ argv: [program = '', ...rest], env }: SandboxedCommand): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, rest, { env: { ...env }, stdio: 'ignore' });
    child.once('error', reject);
    child.once('exit', (code) => (code === 0 ? resolve() : reject(new Error(`it ended with ${code}`))));
  });
}
