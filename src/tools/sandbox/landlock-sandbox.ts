/**
 * The third choice, for machines that allow no user namespaces: Landlock takes away every file but those of the request,
 * signals and abstract sockets to the outside; the filter of system calls takes away every socket, because Landlock knows
 * neither UDP nor Unix sockets with a path. Processes outside can't be seen, because there is no /proc. What it can't do
 * is to keep single names in a writable folder as they are.
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { SandboxError, type Sandbox, type SandboxedCommand, type SandboxRequest } from '../sandbox.ts';
import { confineScript } from './confine-script.ts';
import { findProgram } from './find-program.ts';
import { noMemory, planMounts } from './mount-plan.ts';
import { splitEnvironment } from './outer-environment.ts';
import type { SandboxDeps } from './sandbox-deps.ts';
import { hidingState, keepFile, keepFilter } from './state-files.ts';
import { architectureOf } from './system-calls.ts';
import { systemEntries } from './system-folders.ts';

const devices = ['null', 'zero', 'full', 'random', 'urandom', 'tty'].map((name) => `/dev/${name}`);

export function createLandlockSandbox(deps: SandboxDeps): Sandbox {
  return {
    level: 'landlock',
    description: 'Landlock: files and network closed, system calls filtered',
    gaps: [
      'protected files in the workspace (git hooks, shell start files) are not kept as they are',
      'permissions and times of files outside, and limits of other processes of this user, can be changed',
    ],
    sharesFiles: true,
    wrap: (request) => wrap(deps, request),
  };
}

async function wrap(deps: SandboxDeps, request: SandboxRequest): Promise<SandboxedCommand> {
  const perl = await findProgram(deps, 'perl');
  if (!perl) throw new SandboxError('perl is not installed; on Debian and Ubuntu: apt install perl-base.');
  const architecture = architectureOf(deps.architecture ?? process.arch);
  if (architecture === null) throw new SandboxError('There is no sandbox for this processor; x64 and arm64 have one.');
  if (typeof request.network === 'object') {
    throw new SandboxError('Landlock can not open the network for single hosts; install bubblewrap for that.');
  }
  const { mounts, cwd } = await planMounts(await hidingState(deps, request), await systemEntries(), noMemory);
  const temporary = join(deps.stateFolder, 'tmp');
  await mkdir(temporary, { recursive: true, mode: 0o700 });
  const folders = new Set(request.writable);
  const rights = [
    ...devices.map((path) => ['device', path]),
    ['write', temporary],
    ...mounts.flatMap((mount) => {
      if (mount.kind === 'scratch' && mount.isFixed) throw cannotHide(mount.path);
      if (mount.kind === 'blank' && !mount.isFolder) throw cannotHide(mount.path);
      if (mount.kind === 'read') return [['read', mount.source]];
      return mount.kind === 'write' && isAsked(mount.path, folders) ? [['write', mount.source]] : [];
    }),
  ];
  const fields = rights.flatMap(([kind = '', path = '']) => [kind, path, '', '']);
  const list = await keepFile(deps, 'rights', fields.map((field) => `${field}\0`).join(''));
  const program = await keepFile(deps, 'confine', confineScript(architecture));
  const filter = await keepFilter(deps, request.network === 'open' ? 'usual' : 'none');
  const { outside, inside } = splitEnvironment({ ...request.env, TMPDIR: temporary });
  const settings = Object.entries(inside).map(([name, value]) => `${name}=${value}`);
  const inner = settings.length === 0 ? request.argv : ['/usr/bin/env', ...settings, ...request.argv];
  return { argv: [perl, program, 'landlock', list, filter, cwd, request.network, ...inner], env: outside };
}

function isAsked(path: string, folders: ReadonlySet<string>): boolean {
  return [...folders].some((folder) => path === folder || path.startsWith(`${folder}/`));
}

function cannotHide(path: string): SandboxError {
  return new SandboxError(
    `Landlock can not hide ${path} in a folder that commands may read; install bubblewrap for that.`,
  );
}
