/**
 * The first choice: bubblewrap. Inside are the system's programs and the folders that the request names, processes of
 * its own, no network (or the way to a proxy), no rights, and a filter of system calls. It dies with whoever started it,
 * and everything in it with it.
 */
import { lstat } from 'node:fs/promises';
import { SandboxError, type Sandbox, type SandboxedCommand, type SandboxRequest } from '../sandbox.ts';
import { findProgram } from './find-program.ts';
import { guardHolder } from './hold-guards.ts';
import { firstToGo, withLimits } from './limits.ts';
import { planMounts, type Mount } from './mount-plan.ts';
import { proxyEnvironment, throughForwarder } from './network-forwarder.ts';
import { splitEnvironment } from './outer-environment.ts';
import { quote, words } from './quote.ts';
import type { SandboxDeps } from './sandbox-deps.ts';
import { hidingState, keepEmpties, keepFile, keepFilter } from './state-files.ts';
import { systemEntries, type SystemEntry } from './system-folders.ts';

/** In /proc, and nobody's business: memory, keys, timers of the machine. */
const blankInProc = ['/proc/kcore', '/proc/keys', '/proc/kmsg', '/proc/timer_list', '/proc/sched_debug'];

const isolation = words(
  '--unshare-user --unshare-pid --unshare-ipc --unshare-uts --unshare-cgroup-try',
  '--die-with-parent --cap-drop ALL --hostname sandbox',
);

export function createBubblewrapSandbox(deps: SandboxDeps): Sandbox {
  let preparation: Promise<Prepared> | undefined;
  return {
    level: 'bubblewrap',
    description: 'bubblewrap: own files, processes and network, system calls filtered',
    gaps: [],
    sharesFiles: true,
    wrap: async (request) => {
      preparation ??= prepare(deps);
      try {
        return await wrap(deps, await preparation, request);
      } catch (error) {
        preparation = undefined;
        throw error;
      }
    },
  };
}

/**
 * What Talaria itself was handed open by whoever started it would lead out of the sandbox. For bash: other shells can't
 * name a descriptor above 9.
 */
const closeInherited = `for fd in /proc/$$/fd/*; do
  case \${fd##*/} in [012] | *[!0-9]*) continue ;; esac
  [ "$fd" -ef "$0" ] || eval "exec \${fd##*/}<&-"
done
`;

interface Prepared {
  readonly bash: string | null;
  readonly bwrap: string;
  readonly flock: string;
  readonly setsid: string;
  readonly system: readonly SystemEntry[];
  readonly filter: string;
  readonly emptyFile: string;
  readonly procBlanks: readonly string[];
}

async function prepare(deps: SandboxDeps): Promise<Prepared> {
  const [bash = null, bwrap, flock, setsid] = await Promise.all(
    ['bash', 'bwrap', 'flock', 'setsid'].map((name) => findProgram(deps, name)),
  );
  if (!bwrap) throw new SandboxError('bubblewrap is not installed; on Debian and Ubuntu: apt install bubblewrap.');
  if (!flock || !setsid) throw new SandboxError('flock and setsid are missing; on Debian: apt install util-linux.');
  const isThere = await Promise.all(blankInProc.map((path) => lstat(path).then(Boolean, () => false)));
  const filter = await keepFilter(deps, 'usual');
  const { emptyFile } = await keepEmpties(deps);
  return {
    bash,
    bwrap,
    flock,
    setsid,
    system: await systemEntries(),
    filter,
    emptyFile,
    procBlanks: blankInProc.filter((_, index) => isThere[index]),
  };
}

async function wrap(deps: SandboxDeps, prepared: Prepared, request: SandboxRequest): Promise<SandboxedCommand> {
  const holder = guardHolder(deps.stateFolder, prepared);
  const proxy = typeof request.network === 'object' ? request.network.proxySocket : null;
  const extra = proxy === null ? [] : [proxy, deps.nodePath];
  const plan = await planMounts(
    await hidingState(deps, { ...request, readable: [...request.readable, ...extra] }),
    prepared.system,
    holder,
  );
  const { outside, inside } = splitEnvironment({ ...request.env, ...(proxy === null ? {} : proxyEnvironment()) });
  const settings = [
    ...isolation,
    ...(request.network === 'open' ? [] : ['--unshare-net']),
    ...mountArguments(plan.mounts, prepared),
    '--chdir',
    plan.cwd,
    ...Object.entries(inside).flatMap(([name, value]) => ['--setenv', name, value]),
  ];
  const settingsFile = await keepFile(deps, 'bwrap-arguments', settings.map((word) => `${word}\0`).join(''));
  const script = await keepFile(
    deps,
    'start',
    `${prepared.bash === null ? '' : closeInherited}${await holder.script(plan)}${firstToGo}exec ${quote(prepared.bwrap)} --args 8 --sync-fd 3 --seccomp 9 -- "$@" ` +
      `8<${quote(settingsFile)} 9<${quote(prepared.filter)}\n`,
  );
  const inner = proxy === null ? request.argv : throughForwarder(deps.nodePath, proxy, request.argv);
  return { argv: [prepared.bash ?? '/bin/sh', script, ...(await withLimits(deps, inner))], env: outside };
}

function mountArguments(mounts: readonly Mount[], { emptyFile, procBlanks, system }: Prepared): string[] {
  const ofSystem = new Set(system.map(({ path }) => path));
  const fixed: string[] = [];
  const argv: string[] = ['--proc', '/proc', '--dev', '/dev'];
  for (const path of procBlanks) argv.push('--ro-bind', emptyFile, path);
  // Root may write the kernel's settings there without any right, and bubblewrap does not cover them for root.
  argv.push('--remount-ro', '/proc');
  for (const mount of mounts) {
    switch (mount.kind) {
      case 'read':
        // What is the system's may have gone since it was looked for; what is guarded may not.
        argv.push(ofSystem.has(mount.path) ? '--ro-bind-try' : '--ro-bind', mount.source, mount.path);
        break;
      case 'write':
        argv.push('--bind', mount.source, mount.path);
        break;
      case 'link':
        argv.push('--symlink', mount.target, mount.path);
        break;
      case 'scratch':
        argv.push('--perms', mount.mode, '--tmpfs', mount.path);
        if (mount.isFixed) fixed.push('--remount-ro', mount.path);
        break;
      case 'blank':
        // A bind costs bubblewrap the more the more there are; in such a folder nothing can be made by accident, and what
        // is made on purpose is not the folder outside.
        if (mount.isFolder) argv.push('--perms', '0555', '--tmpfs', mount.path);
        else argv.push('--ro-bind', emptyFile, mount.path);
        break;
    }
  }
  return [...argv, ...fixed, '--dir', '/run', '--remount-ro', '/'];
}
