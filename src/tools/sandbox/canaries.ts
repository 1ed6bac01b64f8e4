/**
 * What a command in a sandbox must not reach, set up to notice it: a listener of every kind, and a process with a secret
 * in its environment that waits to be hurt.
 */
import { networkInterfaces, tmpdir } from 'node:os';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';

export interface Canaries {
  /** Which listeners were reached: TCP, UDP, a Unix socket, an abstract Unix socket. */
  readonly hits: Set<string>;
  readonly tcpPort: number;
  readonly udpPort: number;
  /** Of this machine, loopback first. */
  readonly addresses: readonly string[];
  readonly unixSocket: string;
  readonly abstractSocket: string;
  readonly victimPid: number;
  isVictimAlive(): boolean;
  end(): Promise<void>;
}

const addressesMax = 3;
/** The kernel knows a socket by no longer path. */
const socketPathBytesMax = 103;

/** The victim has `victim-MARKER` among its arguments and `secret` in its environment. */
export async function setCanaries(folder: string, marker: string, secret: string): Promise<Canaries> {
  const { createServer } = process.getBuiltinModule('node:net');
  const { createSocket } = process.getBuiltinModule('node:dgram');
  const { spawn } = process.getBuiltinModule('node:child_process');
  const hits = new Set<string>();
  const listen = async (name: string, options: { port: number } | { path: string }) => {
    const server = createServer((socket) => {
      hits.add(name);
      socket.on('error', () => socket.destroy()).destroy();
    });
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen(options, resolve));
    return server;
  };
  const socketFolder = fits(join(folder, 'socket')) ? folder : await mkdtemp(join(tmpdir(), 'talaria-'));
  const unixSocket = join(socketFolder, 'socket');
  const abstractSocket = `talaria-${marker}`;
  const tcp = await listen('TCP', { port: 0 });
  const servers = [
    tcp,
    await listen('a Unix socket', { path: unixSocket }),
    await listen('an abstract Unix socket', { path: `\0${abstractSocket}` }),
  ];
  const udp = createSocket('udp4').on('message', () => hits.add('UDP'));
  await new Promise<void>((resolve, reject) => udp.once('error', reject).bind(0, resolve));
  const victim = spawn('/bin/sh', ['-c', 'read -r word', `victim-${marker}`], {
    stdio: ['pipe', 'ignore', 'ignore'],
    env: { PROBE: `victim-${marker}`, VICTIM_KEY: secret },
  });
  await new Promise<void>((resolve, reject) => victim.once('spawn', resolve).once('error', reject));
  const address = tcp.address();
  return {
    hits,
    tcpPort: typeof address === 'object' && address !== null ? address.port : 0,
    udpPort: udp.address().port,
    addresses: ownAddresses(),
    unixSocket,
    abstractSocket,
    victimPid: victim.pid ?? 0,
    isVictimAlive: () => victim.exitCode === null && victim.signalCode === null,
    end: async () => {
      victim.kill('SIGKILL');
      udp.close();
      await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
      if (socketFolder !== folder) await rm(socketFolder, { recursive: true, force: true });
    },
  };
}

function fits(socketPath: string): boolean {
  return Buffer.byteLength(socketPath) <= socketPathBytesMax;
}

/** Whether a process runs on this machine that has this text in its arguments. */
export async function isRunning(text: string): Promise<boolean> {
  const pids = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name));
  const lines = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')));
  return lines.some((line) => line.includes(text));
}

function ownAddresses(): string[] {
  const all = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  const outer = all.filter((entry) => entry.family === 'IPv4' && !entry.internal);
  return ['127.0.0.1', ...outer.map(({ address }) => address)].slice(0, addressesMax);
}
