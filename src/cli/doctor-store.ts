/** The doctor's look at what is stored and at the gateway's port. A running gateway is asked rather than bypassed. */
import { join } from 'node:path';
import { stat } from 'node:fs/promises';
import { storeFilePath } from '../config/load.ts';
import type { Config } from '../config/schema.ts';
import { bad, good, warn, type Finding } from './doctor-finding.ts';
import { inspectStore, lockHome } from '../app/home-store.ts';
import type { RunningGateway } from './running-gateway.ts';

const damageShownMax = 5;
const restoreFix = 'restore a backup with: talaria restore FILE --force';

export async function checkStore(home: string, config: Config | null, gateway: RunningGateway): Promise<Finding[]> {
  if (gateway.kind === 'runs') {
    const { status } = gateway;
    const problems = status.config.problems.map((problem) =>
      warn(`the gateway goes on with its last good configuration: ${problem}`, 'mend it; it is picked up by itself'),
    );
    return [good(`store is open in the gateway: ${sessionsOf(status.sessions)}, ${status.store}`), ...problems];
  }
  const path = config === null ? join(home, 'state.db') : storeFilePath(home, config);
  if (path === null) return [];
  const isThere = await stat(path).then(
    () => true,
    () => false,
  );
  if (!isThere) return [good(`store ${path} is not there yet; it is made at the first use`)];
  return inspect(home, path);
}

async function inspect(home: string, path: string): Promise<Finding[]> {
  try {
    const claim = lockHome(home, 'doctor');
    if (claim.kind === 'held') {
      const who =
        claim.holder === null ? 'another process' : `talaria ${claim.holder.purpose} (pid ${claim.holder.pid})`;
      return [warn(`store was not looked at: ${who} is using the home`, 'run the doctor again when it has finished')];
    }
    try {
      const { damage, sessions, searchProblem } = await inspectStore(path);
      const findings = damage.slice(0, damageShownMax).map((what) => bad(`store: ${what}`, restoreFix));
      if (findings.length === 0) findings.push(good(`store ${path}: ${sessionsOf(sessions)}, no damage`));
      if (searchProblem === null) findings.push(good('search index'));
      else findings.push(warn(`search index: ${searchProblem}`, `delete ${join(home, 'search.db')}; it is built anew`));
      return findings;
    } finally {
      claim.lock.release();
    }
  } catch (error) {
    return [bad(`store: ${error instanceof Error ? error.message : String(error)}`, restoreFix)];
  }
}

export async function checkPort(config: Config, gateway: RunningGateway): Promise<Finding[]> {
  const { host, port } = config.gateway;
  if (gateway.kind === 'runs') return [good(`gateway runs at ${gateway.url}, pid ${gateway.status.pid}`)];
  if (gateway.kind === 'unwell') {
    return [bad(`the gateway at ${gateway.url} does not answer well: ${gateway.problem}`, 'restart it')];
  }
  if (gateway.kind === 'silent') {
    const { url, pid } = gateway;
    return [bad(`the gateway at ${url} (pid ${pid}) does not answer`, `end it with kill -9 ${pid} and start it again`)];
  }
  const problem = await listenProblem(host, port);
  if (problem === null) return [good(`port ${port} on ${host} is free for the gateway`)];
  const fix = 'choose another one with: talaria config set gateway.port NUMBER';
  return [bad(`the gateway can't listen on ${host}:${port} (${problem})`, fix)];
}

async function listenProblem(host: string, port: number): Promise<string | null> {
  const { createServer } = process.getBuiltinModule('node:net');
  const server = createServer();
  const problem = await new Promise<string | null>((resolve) => {
    server.once('error', (error) => resolve('code' in error ? String(error.code) : error.message));
    server.listen(port, host, () => resolve(null));
  });
  if (problem === null) await new Promise<void>((resolve) => server.close(() => resolve()));
  return problem;
}

function sessionsOf(count: number): string {
  return count === 1 ? '1 session' : `${count} sessions`;
}
