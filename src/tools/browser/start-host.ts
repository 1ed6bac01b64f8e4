/**
 * Starts Chromium for a session under nobody: in a group and session of its own, nothing shared with this process, so that
 * it stays when this process dies.
 */
import { dirname } from 'node:path';
import { constants, open, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { sleep } from '../../lib/clock.ts';
import { SandboxError } from '../sandbox.ts';
import type { BrowserDeps } from './browser-deps.ts';
import { BrowserError } from './browser-error.ts';
import { hostArguments } from './browser-host-script.ts';
import type { BrowserPlaces, Confinement } from './browser-state.ts';
import { chromiumFlags } from './chromium-flags.ts';
import { chooseConfinement, type ChosenConfinement } from './confinement.ts';
import type { ProcessIdentity } from '../process-identity.ts';
import { identityOf } from './browser-process.ts';

/** What a socket's path may have on every system. */
const socketPathBytesMax = 100;
const lastWordsBytesMax = 20_000;
const programPath = '/usr/local/bin:/usr/bin:/bin';
const singletons = ['SingletonLock', 'SingletonSocket', 'SingletonCookie'];

export interface StartedHost {
  readonly host: ProcessIdentity;
  readonly confinement: Confinement;
}

/** Throws a `BrowserError`. Chromium may not be ready yet when it resolves. */
export async function startHost(
  deps: BrowserDeps,
  places: BrowserPlaces,
  proxySocket: string,
  env: Readonly<Record<string, string | undefined>> = process.env,
): Promise<StartedHost> {
  if (Buffer.byteLength(places.controlSocket) > socketPathBytesMax) {
    throw new BrowserError('start-failed', `The path of Talaria's home is too long for a browser in it: ${deps.root}.`);
  }
  const chromium = await deps.findChromium();
  if (chromium.kind === 'missing') throw new BrowserError('missing', chromium.message);
  const confinement = await chooseConfinement(deps);
  // Left behind by one that was killed; with the wrong luck a new one would take it for alive.
  for (const name of singletons) await rm(`${places.profile}/${name}`, { force: true });
  await rm(places.controlSocket, { force: true });
  await rm(places.lastWordsFile, { force: true });
  const argv = hostArguments({
    nodePath: deps.nodePath,
    proxySocket,
    controlSocket: places.controlSocket,
    lastWordsFile: places.lastWordsFile,
    executable: chromium.path,
    flags: chromiumFlags({ profileFolder: places.profile, hasOwnSandbox: confinement.kind === 'own' }),
  });
  const { TZ, LANG = 'C.UTF-8' } = env;
  const inner = { HOME: places.run, PATH: programPath, LANG, ...(TZ === undefined ? {} : { TZ }) };
  const command = await confined(confinement, deps, {
    argv,
    env: inner,
    places,
    proxySocket,
    executable: chromium.path,
  });
  return { host: await spawned(command), confinement: confinement.kind };
}

interface Confined {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly places: BrowserPlaces;
  readonly proxySocket: string;
  readonly executable: string;
}

async function confined(
  confinement: ChosenConfinement,
  deps: BrowserDeps,
  { argv, env, places, proxySocket, executable }: Confined,
): Promise<Pick<Confined, 'argv' | 'env'>> {
  if (confinement.kind !== 'sandbox') return { argv, env };
  try {
    return await confinement.sandbox.wrap({
      argv,
      env,
      cwd: places.run,
      writable: [places.run, places.profile],
      // The proxy's folder and not its socket, which is a new one after every start of Talaria.
      readable: [dirname(proxySocket), deps.nodePath, await programFolder(executable)],
      hidden: [],
      network: 'off',
    });
  } catch (error) {
    if (!(error instanceof SandboxError)) throw error;
    throw new BrowserError('start-failed', `The browser can't be started in the sandbox: ${error.message}`);
  }
}

/** A program comes with its files; one that lies loose among temporary files comes alone. */
async function programFolder(executable: string): Promise<string> {
  const real = await realpath(executable);
  const folder = dirname(real);
  return folder === '/tmp' || folder === (await realpath(tmpdir())) ? real : folder;
}

async function spawned({ argv, env }: Pick<Confined, 'argv' | 'env'>): Promise<ProcessIdentity> {
  const { spawn } = process.getBuiltinModule('node:child_process');
  // The shell stays as the parent: a sandbox ends with whoever started it, and that must not be Talaria.
  const child = spawn('/bin/sh', ['-c', 'trap "" HUP; "$@"; exit', 'sh', ...argv], {
    cwd: '/',
    env: { PATH: programPath, ...env },
    detached: true,
    stdio: 'ignore',
  });
  try {
    await new Promise<void>((resolve, reject) => child.once('spawn', resolve).once('error', reject));
  } catch (error) {
    throw new BrowserError('start-failed', `The browser can't be started: ${String(error)}.`, { cause: error });
  }
  child.unref();
  const identity = child.pid === undefined ? null : await identityOf(child.pid);
  if (identity === null) throw new BrowserError('start-failed', 'The browser ended as soon as it was started.');
  return identity;
}

/** Why it ended, as far as it said so. */
export async function lastWords(places: BrowserPlaces): Promise<string> {
  const text = await readUnfollowed(places.lastWordsFile).catch(() => '');
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const telling = lines.filter((line) =>
    /FATAL|sandbox|No such file|cannot open|error while loading|Error:/.test(line),
  );
  return (telling.at(-1) ?? lines.at(-1) ?? '').slice(0, 300).toWellFormed();
}

/** The folder is Chromium's own: a link in it could lead to any file. */
async function readUnfollowed(path: string): Promise<string> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(lastWordsBytesMax), 0, lastWordsBytesMax, 0);
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await file.close();
  }
}

/** Until its socket answers. */
export async function untilListening<T>(
  deps: Pick<BrowserDeps, 'clock'>,
  options: {
    readonly attempt: () => Promise<T>;
    readonly isOver: () => Promise<boolean>;
    readonly withinMs: number;
    readonly signal: AbortSignal;
  },
): Promise<T | null> {
  for (
    const end = deps.clock.now() + options.withinMs;
    deps.clock.now() < end;
    await sleep(deps.clock, 20, options.signal)
  ) {
    try {
      return await options.attempt();
    } catch {
      // Not yet, or never.
      if (await options.isOver()) return null;
    }
  }
  return null;
}
