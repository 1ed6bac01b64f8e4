/**
 * Commands in a container, by configuration. Programs are those of the image; of this machine it has the folders of the
 * request and nothing else, no network, no rights, a root that can't be changed. A container does not end with the program
 * that started it, so one that is left is removed by the janitor of its guards.
 */
import { SandboxError, type Sandbox, type SandboxedCommand, type SandboxRequest } from '../sandbox.ts';
import { findProgram } from './find-program.ts';
import { guardHolder } from './hold-guards.ts';
import { processesMax } from './limits.ts';
import { planMounts, type Mount } from './mount-plan.ts';
import { quote, quoteAll, words } from './quote.ts';
import type { SandboxDeps } from './sandbox-deps.ts';
import { hidingState, keepEmpties, keepFile } from './state-files.ts';

const isolation = words(
  '--rm --interactive --init --pull missing --read-only --ipc private --hostname sandbox',
  `--cap-drop ALL --security-opt no-new-privileges --pids-limit ${processesMax}`,
  '--tmpfs /tmp:rw,exec,nosuid,nodev,mode=1777 --env HOME=/tmp',
);

/** The image has its own. */
const ofThisMachine = new Set(['PATH', 'HOME', 'SHELL', 'TMPDIR', 'DOCKER_HOST', 'DOCKER_CONFIG']);

export function createDockerSandbox(deps: SandboxDeps, image: string): Sandbox {
  return {
    level: 'docker',
    description: `docker: in a container of ${image}`,
    gaps: [],
    sharesFiles: true,
    wrap: (request) => wrap(deps, image, request),
  };
}

async function wrap(deps: SandboxDeps, image: string, request: SandboxRequest): Promise<SandboxedCommand> {
  const [docker, flock, setsid] = await Promise.all(
    ['docker', 'flock', 'setsid'].map((name) => findProgram(deps, name)),
  );
  if (!docker) throw new SandboxError('docker is not installed; install it, or set terminal.backend to auto.');
  if (!flock || !setsid) throw new SandboxError('flock and setsid are missing; on Debian: apt install util-linux.');
  if (image === '' || image.startsWith('-')) throw new SandboxError(`${image}: not the name of an image.`);
  if (typeof request.network === 'object') {
    throw new SandboxError('docker can not open the network for single hosts; allow all of it, or use bubblewrap.');
  }
  const holder = guardHolder(deps.stateFolder, { flock, setsid });
  const plan = await planMounts(await hidingState(deps, request), [], holder);
  const empties = await keepEmpties(deps);
  const names = Object.keys(request.env).filter((name) => !ofThisMachine.has(name));
  const user = `${process.getuid?.() ?? 0}:${process.getgid?.() ?? 0}`;
  const settings = [
    ...isolation,
    '--network',
    request.network === 'open' ? 'bridge' : 'none',
    '--user',
    user,
    ...plan.mounts.flatMap((mount) => mountWords(mount, empties)),
    '--workdir',
    plan.cwd,
    // The value is taken from the environment of the docker program: arguments can be read by everybody.
    ...names.flatMap((name) => ['--env', name]),
    image,
  ];
  const name = `"talaria-$$"`;
  const held = await holder.script(plan, `${quote(docker)} rm --force "talaria-$1"`);
  const start = `exec ${quote(docker)} run --name ${name} ${quoteAll(settings)} "$@" 3<&-\n`;
  const script = await keepFile(deps, 'start', `${held}${start}`);
  const env = Object.fromEntries(Object.entries(request.env).filter(([key]) => names.includes(key)));
  return { argv: ['/bin/sh', script, ...request.argv], env: { PATH: '/usr/local/bin:/usr/bin:/bin', ...env } };
}

function mountWords(mount: Mount, { emptyFolder, emptyFile }: { emptyFolder: string; emptyFile: string }): string[] {
  switch (mount.kind) {
    case 'read':
      return ['--mount', bind(mount.source, mount.path, true)];
    case 'write':
      return ['--mount', bind(mount.source, mount.path, false)];
    case 'blank':
      return ['--mount', bind(mount.isFolder ? emptyFolder : emptyFile, mount.path, true)];
    case 'scratch':
      return mount.isFixed ? ['--mount', bind(emptyFolder, mount.path, true)] : [];
    case 'link':
      return [];
  }
}

/** Fields of comma-separated values: one with a comma or a quote in it is quoted. */
function bind(source: string, target: string, isReadOnly: boolean): string {
  const field = (text: string): string => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const fields = ['type=bind', `source=${source}`, `target=${target}`, ...(isReadOnly ? ['readonly'] : [])];
  return fields.map(field).join(',');
}
