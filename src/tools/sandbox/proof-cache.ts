/**
 * Keeps proofs that were passed, so that a start costs nothing: they hold for this boot of this kernel, this user, these
 * programs and this version of the probe. A proof that failed is not kept: what was missing may be there next time.
 */
import { createHash } from 'node:crypto';
import { readFile, rename, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Sandbox, SandboxProof } from '../sandbox.ts';
import { confineScript } from './confine-script.ts';
import { findProgram } from './find-program.ts';
import { probeScript } from './probe-script.ts';
import type { SandboxDeps } from './sandbox-deps.ts';
import { seccompFilter } from './seccomp-filter.ts';
import { architectureOf } from './system-calls.ts';

type Kept = Record<string, { readonly key: string; readonly proof: SandboxProof }>;

export async function proofKey(deps: SandboxDeps, sandbox: Sandbox): Promise<string> {
  const read = (path: string): Promise<string> => readFile(path, 'utf8').catch(() => '');
  const programs = ['bwrap', 'perl', 'flock', 'docker', 'ssh'].map((name) => findProgram(deps, name));
  const versions = await Promise.all(
    [...programs, deps.nodePath].map(async (program) => {
      const path = await program;
      if (path === null) return 'none';
      const { mtimeMs, size, ino } = await stat(path);
      return `${path} ${mtimeMs} ${size} ${ino}`;
    }),
  );
  const architecture = architectureOf(deps.architecture ?? process.arch);
  const parts = [
    sandbox.level,
    sandbox.description,
    await read('/proc/sys/kernel/random/boot_id'),
    await read('/proc/sys/kernel/osrelease'),
    ...(await Promise.all(limits.map(read))),
    String(process.getuid?.()),
    probeScript,
    ...(architecture === null
      ? []
      : [confineScript(architecture), ...seccompFilter({ architecture, sockets: 'usual' })]),
    ...versions,
  ];
  return createHash('sha256').update(parts.join('\0')).digest('hex');
}

/** Can be changed while the machine runs. */
const limits = [
  '/proc/sys/user/max_user_namespaces',
  '/proc/sys/kernel/unprivileged_userns_clone',
  '/proc/sys/kernel/apparmor_restrict_unprivileged_userns',
];

export async function readProof(stateFolder: string, level: string, key: string): Promise<SandboxProof | null> {
  const kept = (await readAll(stateFolder))[level];
  return kept?.key === key ? kept.proof : null;
}

export async function keepProof(stateFolder: string, key: string, proof: SandboxProof): Promise<void> {
  const all = { ...(await readAll(stateFolder)), [proof.level]: { key, proof } };
  const path = join(stateFolder, 'proofs.json');
  const next = `${path}.${process.pid}`;
  await writeFile(next, JSON.stringify(all), { mode: 0o600 });
  await rename(next, path);
}

async function readAll(stateFolder: string): Promise<Kept> {
  try {
    return JSON.parse(await readFile(join(stateFolder, 'proofs.json'), 'utf8')) as Kept;
  } catch {
    // None yet, or unreadable: it is proved anew.
    return {};
  }
}
