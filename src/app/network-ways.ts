/**
 * The ways out that commands have: a proxy for each set of hosts that somebody allowed, on a socket that the sandbox lets
 * through. What a way allows is written beside its socket, so that commands which outlive the process find it again when
 * the next one has started.
 */
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { writeFileAtomically } from '../lib/atomic-file.ts';
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import type { Egress, EgressProxy } from '../tools/egress.ts';
import { SandboxError } from '../tools/sandbox.ts';

/** A socket's path has no more room on any system we know. */
const socketPathBytesMax = 103;
const waysMax = 64;
/** What was not asked for in this time is taken up no more. */
const keptMs = 30 * 86_400_000;

export interface NetworkWays {
  /** The socket of the way to these hosts. Throws a `SandboxError`. */
  open(hosts: readonly string[]): Promise<string>;
  /** Opens those again that an earlier process had. */
  start(): Promise<void>;
  close(): Promise<void>;
}

export interface NetworkWaysDeps {
  readonly folder: string;
  readonly egress: Egress;
  readonly clock: Clock;
  readonly log: Log;
}

export function createNetworkWays({ folder, egress, clock, log }: NetworkWaysDeps): NetworkWays {
  const ways = new Map<string, Promise<EgressProxy>>();

  const begin = async (name: string, hosts: readonly string[]): Promise<EgressProxy> => {
    const { startEgressProxy } = await import('../tools/egress/egress-proxy.ts');
    const { isListedHost } = await import('../tools/egress/egress-target.ts');
    const socketPath = join(folder, `${name}.sock`);
    // One that was left behind answers nobody.
    await rm(socketPath, { force: true });
    return startEgressProxy({ egress, mayReach: (host) => isListedHost(hosts, host), socketPath, login: null });
  };

  const take = (name: string, hosts: readonly string[]): Promise<EgressProxy> => {
    const known = ways.get(name);
    if (known !== undefined) return known;
    const way = begin(name, hosts);
    ways.set(name, way);
    way.catch(() => ways.delete(name));
    return way;
  };

  return {
    async open(hosts) {
      const sorted = [...new Set(hosts.map((host) => host.toLowerCase()))].sort();
      const name = createHash('sha256').update(JSON.stringify(sorted)).digest('hex').slice(0, 16);
      const path = join(folder, `${name}.sock`);
      if (Buffer.byteLength(path) > socketPathBytesMax) {
        throw new SandboxError('The path of the home is too long for a socket: commands have no network there.');
      }
      if (ways.size >= waysMax && !ways.has(name)) {
        throw new SandboxError(`${waysMax} sets of hosts are open already: commands can have no other one now.`);
      }
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await writeFileAtomically(join(folder, `${name}.json`), JSON.stringify(sorted), { mode: 0o600 });
      await take(name, sorted);
      return path;
    },
    async start() {
      for (const file of await readdir(folder).catch(() => [])) {
        const name = /^([0-9a-f]{16})\.json$/.exec(file)?.[1];
        if (name === undefined || ways.size >= waysMax) continue;
        try {
          const { mtimeMs } = await stat(join(folder, file));
          if (clock.now() - mtimeMs > keptMs) await rm(join(folder, file), { force: true });
          else await take(name, hostsFrom(await readFile(join(folder, file), 'utf8')));
        } catch (error) {
          log.warn('a way out for commands not opened again', { file, error });
        }
      }
    },
    async close() {
      const open = await Promise.allSettled(ways.values());
      await Promise.all(open.flatMap((way) => (way.status === 'fulfilled' ? [way.value.close()] : [])));
      ways.clear();
    },
  };
}

function hostsFrom(text: string): string[] {
  const read: unknown = JSON.parse(text);
  return Array.isArray(read) ? read.filter((host) => typeof host === 'string') : [];
}
