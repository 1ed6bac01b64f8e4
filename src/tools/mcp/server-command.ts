/**
 * How a server's program is started: in the sandbox with the workspace, a home of its own and the folders that the
 * operator gave it, or, if the operator says so, as it is. Its environment is what is let through to commands, and what
 * the operator wrote down for it.
 */
import { access, constants, mkdir, readFile, realpath, stat } from 'node:fs/promises';
import { delimiter, dirname, isAbsolute, join, resolve } from 'node:path';
import { SandboxError, type Sandbox, type SandboxedCommand } from '../sandbox.ts';
import { McpError, type McpServerSettings, type ServerPlace } from './mcp-server.ts';

/** They name folders of the person's own home, which are not there in the sandbox. */
const homeVariables = /^(?:XDG_|TMPDIR$|NVM_DIR$|CARGO_HOME$|RUSTUP_HOME$|GOPATH$|PYENV_ROOT$)/;
const stepsUpMax = 6;
const shebangBytesMax = 256;

export interface ServerCommandDeps {
  /** Talaria's. */
  readonly home: string;
  readonly workspace: string;
  /** What commands see of the environment. */
  readonly baseEnv: Readonly<Record<string, string>>;
  /** The one that proved itself. Throws a `SandboxError` if there is none. */
  readonly sandbox: () => Promise<Sandbox>;
  /** The socket of a proxy that lets these hosts through. Throws a `SandboxError`. */
  readonly proxySocket: (hosts: readonly string[]) => Promise<string>;
}

export function serverHome(home: string, name: string): string {
  return join(home, 'mcp', 'homes', name);
}

export interface ServerCommand extends SandboxedCommand {
  readonly place: ServerPlace;
}

/** Throws an `McpError` with what to do. */
export async function serverCommand(
  deps: ServerCommandDeps,
  name: string,
  settings: McpServerSettings,
): Promise<ServerCommand> {
  const { workspace } = deps;
  await mkdir(workspace, { recursive: true, mode: 0o700 });
  const env = { ...deps.baseEnv, ...settings.env };
  const program = await findProgram(settings.command ?? '', env['PATH'] ?? '', workspace);
  if (program === null) {
    throw new McpError('unreachable', `There is no program ${JSON.stringify(settings.command)} to start.`);
  }
  const argv = [program, ...settings.args];
  if (!settings.sandbox) {
    const place = { words: 'on this machine, outside the sandbox', hasWayOut: true };
    return { argv: ['/bin/sh', '-c', 'cd -- "$0" && exec "$@"', workspace, ...argv], env, place };
  }
  try {
    const sandbox = await deps.sandbox();
    const own = serverHome(deps.home, name);
    await mkdir(own, { recursive: true, mode: 0o700 });
    const folders = settings.folders.map((folder) => resolve(deps.home, folder));
    const wrapped = await sandbox.wrap({
      argv,
      cwd: workspace,
      env: { ...withoutHome(deps.baseEnv), HOME: own, ...settings.env },
      writable: [...new Set([workspace, own, ...folders])],
      readable: await programFiles(argv, env['PATH'] ?? '', deps.baseEnv['HOME'] ?? '/'),
      hidden: [deps.home],
      network: settings.network.length === 0 ? 'off' : { proxySocket: await deps.proxySocket(settings.network) },
    });
    return { ...wrapped, place: placeIn(sandbox, settings) };
  } catch (error) {
    if (!(error instanceof SandboxError)) throw error;
    const way = `or set mcp_servers.${name}.sandbox to false to start it without one`;
    throw new McpError('refused', `It can't be started in the sandbox: ${error.message} Mend that, ${way}.`, {
      cause: error,
    });
  }
}

/** A sandbox that keeps something less apart is no promise that nothing leaves it. */
function placeIn({ level, gaps }: Sandbox, { network }: McpServerSettings): ServerPlace {
  if (level === 'none') return { words: 'on this machine, without a sandbox', hasWayOut: true };
  const reach = network.length === 0 ? 'without a network' : `with ${network.join(', ')}`;
  return { words: `in the sandbox (${level}), ${reach}`, hasWayOut: network.length > 0 || gaps.length > 0 };
}

function withoutHome(environment: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !homeVariables.test(name)));
}

async function findProgram(command: string, path: string, workspace: string): Promise<string | null> {
  const places = command.includes('/')
    ? [resolve(workspace, command)]
    : path.split(delimiter).flatMap((folder) => (isAbsolute(folder) ? join(folder, command) : []));
  for (const place of places) {
    const isProgram = await access(place, constants.X_OK)
      .then(() => stat(place))
      .then((stats) => stats.isFile())
      .catch(() => false);
    if (isProgram) return place;
  }
  return null;
}

/**
 * What a program is made of, besides the system's own: its file, the package that it belongs to, what its first line says
 * it is run by, and the same for scripts among its arguments. Never somebody's whole home.
 */
async function programFiles(argv: readonly string[], path: string, home: string): Promise<string[]> {
  const files = new Set<string>();
  const add = async (file: string, depth: number): Promise<void> => {
    if (!isAbsolute(file) || depth > 2) return;
    const stats = await stat(file).catch(() => null);
    if (stats === null || !stats.isFile()) return;
    const real = await realpath(file);
    files.add(file).add(real);
    const whole = await packageOf(real, home);
    if (whole !== null) files.add(whole);
    const interpreter = await interpreterOf(real);
    if (interpreter === null) return;
    const found = isAbsolute(interpreter) ? interpreter : await findProgram(interpreter, path, '/');
    if (found !== null) await add(found, depth + 1);
  };
  for (const word of argv) await add(word, 0);
  // What is inside another one comes with it.
  return [...files].filter((file) => ![...files].some((folder) => file.startsWith(`${folder}/`)));
}

/** The outermost `node_modules` around it, or the nearest folder that says that it is a package. */
async function packageOf(file: string, home: string): Promise<string | null> {
  const modules = file.indexOf('/node_modules/');
  if (modules !== -1) return file.slice(0, modules + '/node_modules'.length);
  let folder = dirname(file);
  for (let steps = 0; steps < stepsUpMax; steps += 1) {
    if (folder === '/' || `${home}/`.startsWith(`${folder}/`)) return null;
    const isPackage = await Promise.any(
      ['package.json', 'pyproject.toml', 'pyvenv.cfg'].map((name) => access(join(folder, name))),
    ).then(
      () => true,
      () => false,
    );
    if (isPackage) return folder;
    folder = dirname(folder);
  }
  return null;
}

async function interpreterOf(file: string): Promise<string | null> {
  const start = await readStart(file);
  const words = /^#!\s*(\S+)(?:\s+(?:-S\s+)?(\S+))?/.exec(start);
  if (words === null) return null;
  const [, program = '', argument] = words;
  return program.endsWith('/env') ? (argument ?? null) : program;
}

async function readStart(file: string): Promise<string> {
  const { size } = await stat(file);
  // A script; a large file is a program of the machine's.
  if (size > 4_000_000) return '';
  return (await readFile(file)).subarray(0, shebangBytesMax).toString('latin1');
}
