/**
 * Commands on another machine, by configuration. That machine is the boundary: Talaria's files are not there, nothing is
 * forwarded, and what the user of that name may do there, commands may do.
 */
import { SandboxError, type Sandbox, type SandboxedCommand, type SandboxRequest } from '../sandbox.ts';
import { findProgram } from './find-program.ts';
import { quote, quoteAll } from './quote.ts';
import type { SandboxDeps } from './sandbox-deps.ts';

const connectS = 10;
const aliveS = 15;

const options = [
  'BatchMode=yes',
  'ForwardAgent=no',
  'ForwardX11=no',
  'ClearAllForwardings=yes',
  'PermitLocalCommand=no',
  'ControlMaster=no',
  'ControlPath=none',
  'StrictHostKeyChecking=yes',
  `ConnectTimeout=${connectS}`,
  `ServerAliveInterval=${aliveS}`,
  'LogLevel=ERROR',
];

/** About this machine; the other one has its own. */
const ofThisMachine =
  /^(?:PATH|HOME|USER|LOGNAME|SHELL|PWD|OLDPWD|TMPDIR|EDITOR|XDG_.*|SSL_.*|NODE_.*|.*_HOME|.*_ROOT|.*_DIR)$/;
const targetPattern = /^(?<where>[A-Za-z0-9._][A-Za-z0-9._-]*@[A-Za-z0-9][A-Za-z0-9.-]*)(?::(?<port>\d{1,5}))?$/;

export interface SshOptions {
  /** USER@HOST or USER@HOST:PORT. */
  readonly target: string;
  /** Given to ssh before everything else; for tests. */
  readonly extraArguments?: readonly string[];
}

export function createSshSandbox(deps: SandboxDeps, { target, extraArguments = [] }: SshOptions): Sandbox {
  return {
    level: 'ssh',
    description: `ssh: on ${target}`,
    gaps: [`commands can do all that this user can on ${target}`, 'a process that is left there goes on'],
    sharesFiles: false,
    wrap: (request) => wrap(deps, target, extraArguments, request),
  };
}

async function wrap(
  deps: SandboxDeps,
  target: string,
  extra: readonly string[],
  request: SandboxRequest,
): Promise<SandboxedCommand> {
  const ssh = await findProgram(deps, 'ssh');
  if (!ssh) throw new SandboxError('ssh is not installed; on Debian and Ubuntu: apt install openssh-client.');
  const { where, port } = targetPattern.exec(target)?.groups ?? {};
  if (where === undefined)
    throw new SandboxError(`terminal.ssh_target must be USER@HOST or USER@HOST:PORT, not "${target}".`);
  const settings = Object.entries(request.env).filter(([name]) => !ofThisMachine.test(name));
  const words = [...settings.map(([name, value]) => `${name}=${value}`), ...request.argv];
  // The same folder if the other machine has it, else the user's own. The login shell there may be any; sh is everywhere.
  const script = `cd -- ${quote(request.cwd)} 2>/dev/null || cd; exec env ${quoteAll(words)}`;
  return {
    argv: [
      ssh,
      ...extra,
      '-T',
      ...options.flatMap((option) => ['-o', option]),
      ...(port === undefined ? [] : ['-p', port]),
      '--',
      where,
      `exec sh -c ${quote(script)}`,
    ],
    // Where its keys are known from. An agent's socket is for ssh itself and goes no further.
    env: pick(process.env, ['HOME', 'USER', 'LOGNAME', 'SSH_AUTH_SOCK']),
  };
}

function pick(source: NodeJS.ProcessEnv, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = source[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
