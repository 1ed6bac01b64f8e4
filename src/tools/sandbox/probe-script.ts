/**
 * What the probe does inside a sandbox: everything that must not work there. It runs on the Node that runs Talaria and
 * needs no other program but a shell. It says what it could do; what can be seen from outside is judged there.
 */
import { dirname } from 'node:path';
import { quote, quoteAll } from './quote.ts';

export interface ProbeTargets {
  readonly work: string;
  /** Files to write that are not in the workspace, and the protected ones that are. */
  readonly forbiddenWrites: readonly string[];
  readonly secretFile: string;
  readonly tcpPort: number;
  readonly udpPort: number;
  /** Addresses that the listeners answer on. */
  readonly addresses: readonly string[];
  readonly unixSocket: string;
  readonly abstractSocket: string;
  readonly victimPid: number;
  readonly parentPid: number;
  readonly marker: string;
}

/** Lines of what was found; the last one is `done`. */
export interface ProbeFindings {
  readonly secret: string;
  /** A setting of the kernel that could be written, with the value it has. */
  readonly settings: readonly string[];
  readonly signalled: readonly number[];
  readonly seen: readonly string[];
  readonly isDone: boolean;
}

const connectMs = 250;

const script = `
const fs = require('node:fs'), net = require('node:net'), dgram = require('node:dgram'), path = require('node:path');
const { spawn } = require('node:child_process');
const targets = JSON.parse(process.argv[1]);
// Whoever started it may be gone: then nobody ends it but itself.
setTimeout(() => process.exit(3), 10_000);
process.stdout.on('error', () => process.exit(3));
const found = { secret: '', settings: [], signalled: [], seen: [], isDone: false };
const attempt = (action) => { try { return action(); } catch { return undefined; } };

for (const file of targets.forbiddenWrites) {
  // Step by step: in a folder that is gone, Node's recursive way never ends.
  const folder = path.dirname(file);
  attempt(() => fs.mkdirSync(path.dirname(folder)));
  attempt(() => fs.mkdirSync(folder));
  attempt(() => fs.writeFileSync(file, 'probe'));
}
found.secret = attempt(() => fs.readFileSync(targets.secretFile, 'utf8')) ?? '';

for (const setting of ['/proc/sys/vm/swappiness', '/proc/sys/kernel/core_pattern', '/proc/sys/kernel/printk']) {
  attempt(() => { fs.writeFileSync(setting, fs.readFileSync(setting)); found.settings.push(setting); });
}
for (const pid of attempt(() => fs.readdirSync('/proc')) ?? []) {
  if (!/^\\d+$/.test(pid)) continue;
  const text = ['cmdline', 'environ'].map((name) => attempt(() => fs.readFileSync('/proc/' + pid + '/' + name, 'utf8')) ?? '').join(' ');
  if (text.includes('victim-' + targets.marker)) found.seen.push(pid);
}
for (const pid of [targets.victimPid, targets.parentPid]) {
  attempt(() => { process.kill(pid, pid === targets.victimPid ? 'SIGTERM' : 0); found.signalled.push(pid); });
}
attempt(() => spawn('/bin/sh', ['-c', 'sleep 5', ['left', targets.marker].join('-')], { detached: true, stdio: 'ignore' }).on('error', () => {}).unref());

const reach = (options) => new Promise((resolve) => {
  const socket = net.connect(options, () => { socket.write('probe'); socket.end(); });
  socket.setTimeout(${connectMs}, () => socket.destroy());
  socket.on('error', () => {}); socket.on('close', resolve);
});
const send = (address) => new Promise((resolve) => {
  const socket = dgram.createSocket(address.includes(':') ? 'udp6' : 'udp4');
  const end = () => { attempt(() => socket.close()); resolve(); };
  socket.on('error', end);
  attempt(() => socket.send('probe', targets.udpPort, address, end)) ?? setTimeout(end, ${connectMs}).unref();
});
Promise.all([
  ...targets.addresses.map((host) => reach({ host, port: targets.tcpPort })),
  ...targets.addresses.map((address) => send(address).catch(() => {})),
  reach({ path: targets.unixSocket }),
  reach({ path: '\\0' + targets.abstractSocket }),
]).then(() => { found.isDone = true; process.stdout.write('\\n' + JSON.stringify(found) + '\\n', () => process.exit(0)); });
`;

export function probeArguments(nodePath: string, targets: ProbeTargets): string[] {
  return [nodePath, '-e', script, JSON.stringify(targets)];
}

export const probeScript = script;

export function readFindings(output: string): ProbeFindings | null {
  const line = output.trimEnd().split('\n').at(-1) ?? '';
  try {
    const parsed = JSON.parse(line) as ProbeFindings;
    return parsed.isDone ? parsed : null;
  } catch {
    return null;
  }
}

/** The part of it that a shell can do, for where there is no Node. */
export function shellProbe(targets: ProbeTargets): string {
  const writes = targets.forbiddenWrites.map(
    (path) => `mkdir -p ${quote(dirname(path))}; printf probe >${quote(path)}`,
  );
  const reach = targets.addresses.flatMap((address) => [
    `echo probe >/dev/tcp/${address}/${targets.tcpPort}`,
    `echo probe >/dev/udp/${address}/${targets.udpPort}`,
  ]);
  const bash = `command -v bash >/dev/null && for try in ${quoteAll(reach)}; do timeout 2 bash -c "$try"; done`;
  const left = `(setsid sh -c 'sleep 5' ${['left', targets.marker].join('-')} >/dev/null 2>&1 &)`;
  return `exec 2>/dev/null; cat ${quote(targets.secretFile)}; ${writes.join('; ')}; ${bash}; ${left}; echo probe-done`;
}
