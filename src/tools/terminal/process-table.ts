/**
 * The background processes of a session by the names that a model uses: p1, p2, … A name is given before the process is
 * started and never given again; all about it is in the spool, so it is the same after a restart.
 */
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod/mini';
import type { CallId } from '../../protocol/ids.ts';
import { hasCode } from '../workspace-path.ts';
import { openSpool, type CallSpool, type CommandExit, type Cut } from './call-spool.ts';
import { isSupervised } from './end-command.ts';

const recordSchema = z.object({
  callId: z.string(),
  command: z.string(),
  startedAt: z.number(),
  /** What to tell the session about: "exit", a text in a line, or nothing. */
  notify: z.nullable(z.string()),
  isOnline: z.boolean(),
  isPty: z.boolean(),
});
export type ProcessRecord = Readonly<z.output<typeof recordSchema>>;

export interface BackgroundProcess extends ProcessRecord {
  readonly id: string;
  readonly spool: CallSpool;
  readonly spoolFolder: string;
}

export type ProcessState =
  /** It has its name, and its call has not come further. */
  | { readonly kind: 'not-begun' }
  | { readonly kind: 'running' }
  | { readonly kind: 'ended'; readonly exit: CommandExit | null; readonly cut: Cut | null }
  /** It went with its sandbox or with the machine, and nobody saw how. */
  | { readonly kind: 'lost' };

export const processesFolderName = 'processes';
/** As many are remembered, running or not; a session that wants more of them has lost control. */
export const processesMax = 1_000;

/** Null if there are too many. */
export async function nameProcess(spoolFolder: string, record: ProcessRecord): Promise<string | null> {
  const folder = join(spoolFolder, processesFolderName);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const known = await numbersIn(spoolFolder);
  if (known.length >= processesMax) return null;
  // Never a name that was used: what is forgotten may still be spoken of.
  for (let number = 1 + (known.at(-1) ?? 0); ; number++) {
    try {
      await writeFile(join(folder, `p${number}.json`), `${JSON.stringify(record)}\n`, { flag: 'wx', mode: 0o600 });
      return `p${number}`;
    } catch (error) {
      if (!hasCode(error, 'EEXIST')) throw error;
    }
  }
}

/** Forgets those whose call was removed; the newest one stays, so that its number is not given again. */
export async function forgetProcesses(spoolFolder: string, isRemoved: (callId: string) => boolean): Promise<void> {
  for (const { id, callId } of (await listProcesses(spoolFolder)).slice(0, -1)) {
    if (isRemoved(callId)) await rm(join(spoolFolder, processesFolderName, `${id}.json`), { force: true });
  }
}

/** All of the session, in the order of their start. */
export async function listProcesses(spoolFolder: string): Promise<BackgroundProcess[]> {
  const found: BackgroundProcess[] = [];
  for (const number of await numbersIn(spoolFolder)) {
    const process = await findProcess(spoolFolder, `p${number}`);
    if (process !== null) found.push(process);
  }
  return found;
}

export async function findProcess(spoolFolder: string, id: string): Promise<BackgroundProcess | null> {
  if (!/^p\d{1,9}$/.test(id)) return null;
  const text = await readFile(join(spoolFolder, processesFolderName, `${id}.json`), 'utf8').catch(() => null);
  if (text === null) return null;
  try {
    const record = recordSchema.parse(JSON.parse(text));
    return { ...record, id, spoolFolder, spool: openSpool(join(spoolFolder, record.callId), record.callId) };
  } catch {
    // The machine went down while it was written: then it was never started.
    return null;
  }
}

/** The name that this call gave, if it did. */
export async function processOfCall(spoolFolder: string, callId: CallId): Promise<BackgroundProcess | null> {
  return (await listProcesses(spoolFolder)).find((process) => process.callId === callId) ?? null;
}

export async function processState({ spool }: BackgroundProcess): Promise<ProcessState> {
  for (let look = 0; ; look++) {
    const [exit, cut] = [await spool.readExit(), await spool.readCut()];
    if (exit !== null) return { kind: 'ended', exit, cut };
    // It may have ended between the two looks.
    if (look === 1) return cut === null ? { kind: 'lost' } : { kind: 'ended', exit, cut };
    if (await isSupervised(spool)) return { kind: 'running' };
    if ((await spool.readClaim()) === null) return { kind: 'not-begun' };
  }
}

const polledSchema = z.object({ callId: z.string(), from: z.number(), to: z.number() });
/** How far `poll` has shown the output, and which call was shown it; kept over restarts. */
export type Polled = Readonly<z.output<typeof polledSchema>>;

export async function readPolled({ spool }: BackgroundProcess): Promise<Polled> {
  const text = await readFile(join(spool.folder, 'polled'), 'utf8').catch(() => '');
  try {
    return polledSchema.parse(JSON.parse(text));
  } catch {
    // Never written, or only in part: what was shown is shown again.
    return { callId: '', from: 0, to: 0 };
  }
}

export function writePolled({ spool }: BackgroundProcess, polled: Polled): Promise<void> {
  return writeFile(join(spool.folder, 'polled'), JSON.stringify(polled), { mode: 0o600 });
}

/** What was asked for has been told, or will never come. */
export async function isNotified({ spool }: BackgroundProcess): Promise<boolean> {
  return (await readFile(join(spool.folder, 'notified')).catch(() => null)) !== null;
}

export function writeNotified({ spool }: BackgroundProcess): Promise<void> {
  return writeFile(join(spool.folder, 'notified'), '', { mode: 0o600 });
}

async function numbersIn(spoolFolder: string): Promise<number[]> {
  const names = await readdir(join(spoolFolder, processesFolderName)).catch(() => []);
  const numbers = names.flatMap((name) => {
    const number = /^p(\d{1,9})\.json$/.exec(name)?.[1];
    return number === undefined ? [] : [Number(number)];
  });
  return numbers.sort((a, b) => a - b);
}
