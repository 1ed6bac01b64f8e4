/**
 * What the probe is run against: a workspace, a secret beside it, canaries. Everything in it is made for one probe and
 * gone after it.
 */
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isRunning, setCanaries } from './canaries.ts';
import type { ProbeTargets } from './probe-script.ts';

export interface ProbeStage {
  readonly targets: ProbeTargets;
  readonly work: string;
  readonly secret: string;
  /** Which of the forbidden writes are there, in the files outside. */
  readonly readWritten: () => Promise<readonly string[]>;
  /** Which listeners were reached. */
  readonly hits: ReadonlySet<string>;
  readonly isVictimAlive: () => boolean;
  /** Whether a process that the probe started still runs anywhere on the machine. */
  readonly isLeftBehind: () => Promise<boolean>;
  readonly end: () => Promise<void>;
}

/** In a workspace that has a repository in a folder, and nothing else. */
const protectedInWork = [
  '.git/hooks/pre-commit',
  '.git/config',
  '.bashrc',
  '.vscode/tasks.json',
  'project/.git/hooks/pre-commit',
  'project/.git/config',
  'project/.git/commondir',
];

export async function setProbeStage(stateFolder: string): Promise<ProbeStage> {
  await mkdir(stateFolder, { recursive: true, mode: 0o700 });
  const folder = await realpath(await mkdtemp(join(stateFolder, 'probe-')));
  const marker = `${process.pid}x${Math.random().toString(36).slice(2)}`;
  const secret = `secret-${marker}`;
  const work = join(folder, 'work');
  const secretFile = join(folder, 'secret');
  await mkdir(join(work, 'project', '.git', 'hooks'), { recursive: true });
  await writeFile(join(work, 'project', '.git', 'config'), '');
  await mkdir(join(folder, 'outside'));
  await writeFile(secretFile, secret, { mode: 0o600 });
  const elsewhere = ['/etc', '/usr', '/var', stateFolder].map((place) => join(place, `talaria-probe-${marker}`));
  const forbiddenWrites = [
    join(folder, 'outside', 'written'),
    ...elsewhere,
    ...protectedInWork.map((name) => join(work, name)),
  ];
  const canaries = await setCanaries(folder, marker, secret);
  return {
    work,
    secret,
    hits: canaries.hits,
    isVictimAlive: () => canaries.isVictimAlive(),
    isLeftBehind: () => isRunning(`left-${marker}`),
    targets: { ...canaries, work, forbiddenWrites, secretFile, parentPid: process.pid, marker },
    readWritten: async () => {
      const texts = await Promise.all(forbiddenWrites.map((path) => readFile(path, 'utf8').catch(() => '')));
      return forbiddenWrites.filter((_, index) => texts[index] === 'probe');
    },
    end: async () => {
      await canaries.end();
      await rm(folder, { recursive: true, force: true, maxRetries: 3 });
      // Where it may not even look, it has written nothing.
      await Promise.all(elsewhere.map((path) => rm(path, { force: true }).catch(() => undefined)));
    },
  };
}
