/**
 * The second choice: the same as bubblewrap, put up by a program of our own in perl, for machines that allow user
 * namespaces but have no bubblewrap.
 */
import { lstat } from 'node:fs/promises';
import { SandboxError, type Sandbox, type SandboxedCommand, type SandboxRequest } from '../sandbox.ts';
import { confineScript } from './confine-script.ts';
import { findProgram } from './find-program.ts';
import { guardHolder } from './hold-guards.ts';
import { firstToGo, withLimits } from './limits.ts';
import { planMounts, type Mount } from './mount-plan.ts';
import { proxyEnvironment, throughForwarder } from './network-forwarder.ts';
import { splitEnvironment } from './outer-environment.ts';
import { quoteAll } from './quote.ts';
import type { SandboxDeps } from './sandbox-deps.ts';
import { hidingState, keepEmpties, keepFile, keepFilter } from './state-files.ts';
import { architectureOf } from './system-calls.ts';
import { systemEntries } from './system-folders.ts';

export function createNamespacesSandbox(deps: SandboxDeps): Sandbox {
  return {
    level: 'namespaces',
    description: 'namespaces: own files, processes and network, system calls filtered',
    gaps: [],
    sharesFiles: true,
    wrap: (request) => wrap(deps, request),
  };
}

async function wrap(deps: SandboxDeps, request: SandboxRequest): Promise<SandboxedCommand> {
  const [perl, flock, setsid] = await Promise.all(['perl', 'flock', 'setsid'].map((name) => findProgram(deps, name)));
  if (!perl) throw new SandboxError('perl is not installed; on Debian and Ubuntu: apt install perl-base.');
  if (!flock || !setsid) throw new SandboxError('flock and setsid are missing; on Debian: apt install util-linux.');
  const architecture = architectureOf(deps.architecture ?? process.arch);
  if (architecture === null) throw new SandboxError('There is no sandbox for this processor; x64 and arm64 have one.');
  const holder = guardHolder(deps.stateFolder, { flock, setsid });
  const proxy = typeof request.network === 'object' ? request.network.proxySocket : null;
  const extra = proxy === null ? [] : [proxy, deps.nodePath];
  const plan = await planMounts(
    await hidingState(deps, { ...request, readable: [...request.readable, ...extra] }),
    await systemEntries(),
    holder,
  );
  const { emptyFile } = await keepEmpties(deps);
  const blanks: Mount[] = [];
  for (const path of ['/proc/kcore', '/proc/keys', '/proc/kmsg', '/proc/timer_list']) {
    if (await lstat(path).catch(() => null)) blanks.push({ kind: 'blank', path, isFolder: false });
  }
  const fields = [...blanks, ...plan.mounts].flatMap((mount) => entryOf(mount, emptyFile));
  const { outside, inside } = splitEnvironment({ ...request.env, ...(proxy === null ? {} : proxyEnvironment()) });
  const argv = proxy === null ? request.argv : throughForwarder(deps.nodePath, proxy, request.argv);
  const list = await keepFile(deps, 'mounts', fields.map((field) => `${field}\0`).join(''));
  const program = await keepFile(deps, 'confine', confineScript(architecture));
  const filter = await keepFilter(deps, 'usual');
  const network = request.network === 'open' ? 'open' : 'off';
  const start = quoteAll([perl, program, 'namespaces', list, filter, plan.cwd, network]);
  const script = await keepFile(deps, 'start', `${await holder.script(plan)}${firstToGo}exec ${start} "$@"\n`);
  const settings = Object.entries(inside).map(([name, value]) => `${name}=${value}`);
  const inner = settings.length === 0 ? argv : ['/usr/bin/env', ...settings, ...argv];
  return { argv: ['/bin/sh', script, ...(await withLimits(deps, inner))], env: outside };
}

function entryOf(mount: Mount, emptyFile: string): string[] {
  switch (mount.kind) {
    case 'read':
    case 'write':
      return [mount.kind, mount.path, mount.source, ''];
    case 'link':
      return ['link', mount.path, mount.target, ''];
    case 'scratch':
      return ['scratch', mount.path, mount.mode, mount.isFixed ? 'fixed' : ''];
    case 'blank':
      return mount.isFolder ? ['scratch', mount.path, '0555', ''] : ['read', mount.path, emptyFile, ''];
  }
}
