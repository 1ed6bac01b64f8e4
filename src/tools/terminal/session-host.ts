/**
 * The sandbox of a session, as a process that stays: all its commands run in it, so that they share their processes and
 * their network. It is started through a `Sandbox`, under a supervisor that outlives Talaria, and found again by its
 * folder; another kind of sandbox (the configuration changed, a host was allowed) is another host beside it.
 *
 * Layout in the session's spool: `shell/hosts/N` (a host: `spec.json`, `claim`, `request`, `log`, `exit`), `shell/wire`
 * (where the sandbox sees the pipes of its calls), `shell/state` (what a command leaves for the next one).
 */
import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { mkdir, open, readdir, readFile, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod/mini';
import type { Clock } from '../../lib/clock.ts';
import type { Sandbox, SandboxRequest } from '../sandbox.ts';
import { hasCode } from '../workspace-path.ts';
import { openSpool } from './call-spool.ts';
import { bootId, isAlive } from '../process-identity.ts';
import { readBounded } from './read-bounded.ts';
import { hostLeftCode, hostScript, hostUnguardedCode, runnerScript, shellScript } from './shell-scripts.ts';
import { callMarkerName, spawnDetached } from './start-supervisor.ts';
import { hostSupervisorArguments } from './supervisor-script.ts';

/** A host whose supervisor has not said after this time who it is was killed in that moment. */
const claimMs = 5_000;
const logBytesMax = 4_096;

const specSchema = z.object({ hash: z.string(), level: z.string(), startedAt: z.number() });

export interface SessionHost {
  /** Unique in its session. */
  readonly name: string;
  readonly folder: string;
  /** The pipe that it reads. */
  readonly requests: string;
  readonly wire: string;
}

/** What commands may reach, but for what the host itself needs. */
export type HostPlace = Pick<SandboxRequest, 'cwd' | 'env' | 'writable' | 'readable' | 'hidden' | 'network'>;

export type HostState =
  | { readonly kind: 'alive' }
  /** No call was lost with it. `isUnguarded`: something protected was replaced outside, so it left with all it had. */
  | { readonly kind: 'left'; readonly isUnguarded: boolean }
  /** It never came up; `log` is what was printed instead. */
  | { readonly kind: 'not-started'; readonly log: string }
  | { readonly kind: 'gone'; readonly byMachine: boolean };

export const shellFolderName = 'shell';

export function shellFolders(spoolFolder: string): { wire: string; state: string; hosts: string } {
  const shell = join(spoolFolder, shellFolderName);
  return { wire: join(shell, 'wire'), state: join(shell, 'state'), hosts: join(shell, 'hosts') };
}

export function openHost(spoolFolder: string, name: string): SessionHost {
  const { wire, hosts } = shellFolders(spoolFolder);
  const folder = join(hosts, name);
  return { name, folder, requests: join(folder, 'request'), wire };
}

/** Every host of the session, the newest last. */
export async function listHosts(spoolFolder: string): Promise<SessionHost[]> {
  const names = await readdir(shellFolders(spoolFolder).hosts).catch(() => []);
  return names.sort((a, b) => Number(a) - Number(b)).map((name) => openHost(spoolFolder, name));
}

export interface SessionHosts {
  /** The host for this place: one that is there, or a new one. Throws what `wrap` and the system throw. */
  ensure(sandbox: Sandbox, spoolFolder: string, place: HostPlace): Promise<FoundHost>;
}

export interface FoundHost {
  readonly host: SessionHost;
  readonly isNew: boolean;
}

/** One for the process: of two that need a host at the same time, the second finds what the first has started. */
export function createSessionHosts(clock: Clock): SessionHosts {
  const waiting = new Map<string, Promise<unknown>>();
  return {
    async ensure(sandbox, spoolFolder, place) {
      const before = waiting.get(spoolFolder) ?? Promise.resolve();
      const found = before.then(() => ensureHost(clock, sandbox, spoolFolder, place));
      const settled = found.catch(() => {});
      waiting.set(spoolFolder, settled);
      void settled.then(() => waiting.get(spoolFolder) === settled && waiting.delete(spoolFolder));
      return found;
    },
  };
}

async function ensureHost(clock: Clock, sandbox: Sandbox, spoolFolder: string, place: HostPlace): Promise<FoundHost> {
  const { wire, state, hosts } = shellFolders(spoolFolder);
  const request = hostRequest(sandbox, place, wire, state);
  const hash = createHash('sha256')
    .update(JSON.stringify([sandbox.level, request]))
    .digest('hex');
  const known = await listHosts(spoolFolder);
  for (const host of known.toReversed()) {
    if ((await readSpec(host))?.hash !== hash || (await hostState(clock, host)).kind !== 'alive') continue;
    const now = new Date(clock.now());
    await utimes(host.folder, now, now);
    return { host, isNew: false };
  }
  // Never the name of an earlier one, though that may have been removed.
  const host = openHost(spoolFolder, String(Math.max(clock.now(), Number(known.at(-1)?.name ?? 0) + 1)));
  for (const folder of [wire, state, hosts, host.folder]) await mkdir(folder, { recursive: true, mode: 0o700 });
  // The mark is given inside: what puts the sandbox up and tidies up after it is not part of it.
  const marked = ['/usr/bin/env', `${callMarkerName}=${hostMarker(host)}`, ...request.argv];
  const { argv, env } = await sandbox.wrap({ ...request, argv: marked });
  const started = await spawnDetached(hostSupervisorArguments(host.folder, argv), { cwd: '/', env });
  if (started.kind === 'not-started') throw started.error;
  started.supervisor.letGo();
  // Only now: a process that dies before leaves nothing that looks like a host about to come up.
  const spec = { hash, level: sandbox.level, startedAt: clock.now() };
  await writeFile(join(host.folder, 'spec.json'), JSON.stringify(spec), { mode: 0o600 });
  return { host, isNew: true };
}

function hostRequest(sandbox: Sandbox, place: HostPlace, wire: string, state: string): SandboxRequest {
  // Landlock takes a pipe for a file: it can be written to only where files can.
  const isWireWritable = sandbox.level === 'landlock';
  return {
    ...place,
    argv: [
      'bash',
      '-c',
      hostScript,
      'host',
      wire,
      state,
      hasOwnSpace(sandbox) ? 'own' : 'shared',
      runnerScript,
      shellScript,
    ],
    writable: [...place.writable, state, ...(isWireWritable ? [wire] : [])],
    readable: [...place.readable, ...(isWireWritable ? [] : [wire])],
  };
}

/** Its processes and its network are apart from the machine's, and end with it. */
function hasOwnSpace({ level }: Sandbox): boolean {
  return level === 'bubblewrap' || level === 'namespaces' || level === 'docker';
}

/** The same for what one of its calls started. */
export function hostedMarker(spoolFolder: string, callId: string): string {
  return join(shellFolders(spoolFolder).wire, callId);
}

/** By this its processes can be told from others, whatever became of their parents. */
export function hostMarker(host: SessionHost): string {
  return host.folder;
}

export async function hostState(clock: Clock, host: SessionHost): Promise<HostState> {
  const exit = await readFile(join(host.folder, 'exit'), 'utf8').catch(() => '');
  if (exit.endsWith('\n')) {
    if (Number(exit) === hostLeftCode) return { kind: 'left', isUnguarded: false };
    if (Number(exit) === hostUnguardedCode) return { kind: 'left', isUnguarded: true };
    const log = (await readBounded(join(host.folder, 'log'), logBytesMax))?.toString() ?? '';
    if (!log.startsWith('ready\n')) return { kind: 'not-started', log: log.trim() };
    return { kind: 'gone', byMachine: false };
  }
  const claim = await openSpool(host.folder, host.name).readClaim();
  if (claim === null || claim === 'incomplete') {
    const spec = await readSpec(host);
    // Who started it was killed in doing so: no call was ever given to it, and nothing can be lost with it.
    if (spec === null) return { kind: 'not-started', log: '' };
    return clock.now() - spec.startedAt < claimMs ? { kind: 'alive' } : { kind: 'gone', byMachine: false };
  }
  if (claim.boot !== (await bootId())) return { kind: 'gone', byMachine: true };
  return (await isAlive(claim)) ? { kind: 'alive' } : { kind: 'gone', byMachine: false };
}

export async function readSpec(host: SessionHost): Promise<z.output<typeof specSchema> | null> {
  const text = await readFile(join(host.folder, 'spec.json'), 'utf8').catch(() => null);
  if (text === null) return null;
  try {
    return specSchema.parse(JSON.parse(text));
  } catch {
    // The machine went down while it was written.
    return null;
  }
}

/** When a call last had to do with it. */
export async function hostUsedAt(host: SessionHost): Promise<number> {
  return Math.round((await stat(host.folder).catch(() => null))?.mtimeMs ?? 0);
}

/** A line to the host; false if nobody reads it. */
export async function tellHost(host: SessionHost, line: string): Promise<boolean> {
  try {
    const pipe = await open(host.requests, constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
    try {
      await pipe.write(`${line}\n`);
    } finally {
      await pipe.close();
    }
    return true;
  } catch (error) {
    if (['ENXIO', 'ENOENT', 'EAGAIN', 'EPIPE'].some((code) => hasCode(error, code))) return false;
    throw error;
  }
}
