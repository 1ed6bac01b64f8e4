/**
 * A name that must not come to be in a folder is mounted over, and to be mounted over it has to exist: an empty folder,
 * which git does not see, or for git's own names a file that git does not mind. They are there as long as a sandbox over
 * that folder runs and are gone afterwards. Taken away too early they would open what they close, so a sandbox holds a
 * lock from before they are made until the last of its processes is dead, and only who finds no lock of anybody may take
 * them away: a janitor that each sandbox leaves behind, or, after a crash of the machine, Talaria when it starts.
 *
 * One folder for each guarded folder: `made.json` (what may be ours), `clean.sh`, `repositories.json` (those that were
 * found there), and a `held.*` for each sandbox, which is one file with a name in each of them.
 */
import { createHash } from 'node:crypto';
import { lstat, mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { GuardMemory, GuardedFolder, MountPlan } from './mount-plan.ts';
import { quote, quoteAll } from './quote.ts';

export interface HoldingPrograms {
  readonly flock: string;
  readonly setsid: string;
}

export interface GuardHolder extends GuardMemory {
  /**
   * Shell commands that make the guards and hold them by descriptor 3, which the sandbox must keep open. `afterwards` is
   * run once that is closed, with the shell's process id as $1.
   */
  script(plan: MountPlan, afterwards?: string): Promise<string>;
}

type Made = Record<string, string | null>;

const failed = `{ echo 'sandbox: the guards of protected files can not be made' >&2; exit 126; }`;

export function guardHolder(stateFolder: string, programs: HoldingPrograms): GuardHolder {
  const root = join(stateFolder, 'guards');
  const everybody = join(root, 'lock');
  const placeOf = (folder: string): string =>
    join(root, createHash('sha256').update(folder).digest('hex').slice(0, 24));

  async function record({ folder, guards, repositories }: GuardedFolder): Promise<string> {
    const place = placeOf(folder);
    await mkdir(place, { recursive: true, mode: 0o700 });
    const made: Made = { ...(await readMade(place)) };
    for (const { path, text } of guards) made[path] = text;
    await replace(join(place, 'made.json'), JSON.stringify(made));
    await replace(join(place, 'clean.sh'), cleanScript(place, everybody, programs, made));
    await replace(join(place, 'repositories.json'), JSON.stringify(repositories));
    return place;
  }

  return {
    ours: async (folder) => {
      const left = new Set<string>();
      for (const [path, text] of Object.entries(await readMade(placeOf(folder)))) {
        if (await isAsMade(path, text)) left.add(path);
      }
      return left;
    },
    repositories: async (folder) => readRepositories(placeOf(folder)),
    script: async ({ absent }, afterwards = ':') => {
      await mkdir(root, { recursive: true, mode: 0o700 });
      await writeFile(everybody, '', { flag: 'a', mode: 0o600 });
      const places = await Promise.all(absent.map(record));
      const [first, ...others] = places;
      if (first === undefined) return `exec 3</dev/null\n`;
      const guards = absent.flatMap((entry) => entry.guards);
      const folders = guards.filter(({ text }) => text === null).map(({ path }) => path);
      const files = guards.filter(({ text }) => text !== null);
      const cleaners = places.map((place) => join(place, 'clean.sh'));
      const held = `${quote(first)}/held.$$`;
      return [
        `exec 4<${quote(everybody)} && ${programs.flock} 4 && : >${held} && exec 3<${held} && ${programs.flock} -s 3 || ${failed}`,
        ...others.map((place) => `ln -f ${held} ${quote(place)}/held.$$ || ${failed}`),
        '{',
        ...(folders.length > 0 ? [`mkdir -- ${quoteAll(folders)}`] : []),
        'set -C',
        ...files.map(({ path, text }) => `printf %s ${quote(text ?? '')} >${quote(path)}`),
        'set +C',
        '} 2>/dev/null',
        `${programs.setsid} -f /bin/sh -c ${quote(janitor(programs, afterwards))} ${held} $$ ${quoteAll(cleaners)} ` +
          '3<&- 4<&- </dev/null >/dev/null 2>&1',
        'exec 4<&-',
        '',
      ].join('\n');
    },
  };
}

function janitor({ flock }: HoldingPrograms, afterwards: string): string {
  return `${flock} -x "$0" true; ${afterwards}; shift; for clean; do /bin/sh "$clean"; done`;
}

/** For a start of Talaria: takes away what sandboxes left that ended together with the machine. */
export async function cleanGuards(stateFolder: string): Promise<void> {
  const { spawn } = process.getBuiltinModule('node:child_process');
  const root = join(stateFolder, 'guards');
  const places = await readdir(root).catch(() => []);
  for (const place of places.filter((name) => name !== 'lock')) {
    await new Promise<void>((resolve) => {
      const child = spawn('/bin/sh', [join(root, place, 'clean.sh')], { stdio: 'ignore' });
      child.once('error', () => resolve());
      child.once('exit', () => resolve());
    });
  }
}

function cleanScript(place: string, everybody: string, { flock }: HoldingPrograms, made: Made): string {
  const folders = Object.entries(made).flatMap(([path, text]) => (text === null ? [path] : []));
  const files = Object.entries(made).flatMap(([path, text]) => (text === null ? [] : [[path, text] as const]));
  return [
    `exec 4<${quote(everybody)} && ${flock} 4 || exit`,
    `for held in ${quote(place)}/held.*; do`,
    '  [ -e "$held" ] || continue',
    `  if ${flock} -n -x "$held" true; then rm -f -- "$held"; else busy=yes; fi`,
    'done',
    '[ -z "$busy" ] || exit 0',
    ...(folders.length > 0 ? [`rmdir -- ${quoteAll(folders)} 2>/dev/null`] : []),
    ...files.map(([path, text]) => {
      const is = `[ -f ${quote(path)} ] && [ "$(cat ${quote(path)}; echo x)" = ${quote(`${text}x`)} ]`;
      return `${is} && rm -f -- ${quote(path)}`;
    }),
    'exit 0',
    '',
  ].join('\n');
}

async function isAsMade(path: string, text: string | null): Promise<boolean> {
  try {
    if (text !== null) return (await lstat(path)).isFile() && (await readFile(path, 'utf8')) === text;
    return (await readdir(path)).length === 0;
  } catch {
    return false;
  }
}

async function readMade(place: string): Promise<Made> {
  try {
    return JSON.parse(await readFile(join(place, 'made.json'), 'utf8')) as Made;
  } catch {
    // The first time, or unreadable: then what is there counts as the user's and is kept.
    return {};
  }
}

async function readRepositories(place: string): Promise<string[]> {
  try {
    return JSON.parse(await readFile(join(place, 'repositories.json'), 'utf8')) as string[];
  } catch {
    // None yet, or unreadable: they are looked for.
    return [];
  }
}

async function replace(path: string, text: string): Promise<void> {
  const next = `${path}.${process.pid}.${Math.random().toString(36).slice(2)}`;
  await writeFile(next, text, { mode: 0o600 });
  await rename(next, path);
}
