/**
 * What is remembered of a session's browser, on the disk, so that the next Talaria finds it: which process it is, which
 * pages were open, and which sites a person let it fill in. Chromium itself can't change it.
 *
 *   ROOT/way/s                      the proxy's socket, for all browsers
 *   ROOT/SESSION/state.json         this
 *   ROOT/SESSION/run/               Chromium's home, with the socket `c` that it is spoken to through
 *   ROOT/SESSION/profile/           Chromium's own: cookies, storage, cache
 */
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { writeFileAtomically } from '../../lib/atomic-file.ts';
import { isId } from '../../lib/ids.ts';
import type { SessionId } from '../../protocol/ids.ts';

const stateSchema = z.object({
  /** The process that everything hangs on; null: it was closed. */
  host: z.nullable(z.object({ pid: z.int(), start: z.string() })),
  /** What keeps Chromium from the rest of the machine. */
  confinement: z.enum(['sandbox', 'own', 'none']),
  startedAt: z.number(),
  usedAt: z.number(),
  /** The open pages, by Chromium's name for them and by address, and which of them is the current one. */
  tabs: z.array(z.object({ id: z.string(), url: z.string() })),
  current: z.int(),
  /** How many documents had references given out, so that none is ever taken for another's. */
  documents: z.int(),
  /** Origins that a person allowed to be filled in. */
  origins: z.array(z.string()),
});
export type BrowserState = Readonly<z.output<typeof stateSchema>>;
export type Tab = BrowserState['tabs'][number];
export type Confinement = BrowserState['confinement'];

export interface BrowserPlaces {
  readonly folder: string;
  readonly run: string;
  readonly profile: string;
  readonly controlSocket: string;
  readonly lastWordsFile: string;
  readonly stateFile: string;
}

export function placesOf(root: string, sessionId: SessionId): BrowserPlaces {
  const folder = join(root, sessionId);
  const run = join(folder, 'run');
  return {
    folder,
    run,
    profile: join(folder, 'profile'),
    controlSocket: join(run, 'c'),
    lastWordsFile: join(run, 'last-words'),
    stateFile: join(folder, 'state.json'),
  };
}

export async function makePlaces(root: string, places: BrowserPlaces): Promise<void> {
  await mkdir(root, { recursive: true, mode: 0o700 });
  for (const folder of [places.folder, places.run, places.profile]) {
    await mkdir(folder, { recursive: true, mode: 0o700 });
  }
}

/** Null if there is none, or none that can be read. */
export async function readState(places: BrowserPlaces): Promise<BrowserState | null> {
  const text = await readFile(places.stateFile, 'utf8').catch(() => null);
  if (text === null) return null;
  try {
    const parsed = stateSchema.safeParse(JSON.parse(text));
    return parsed.success ? parsed.data : null;
  } catch {
    // As good as none: a new browser is begun.
    return null;
  }
}

export async function writeState(places: BrowserPlaces, state: BrowserState): Promise<void> {
  await writeFileAtomically(places.stateFile, JSON.stringify(state), { mode: 0o600 });
}

export async function sessionsIn(root: string): Promise<SessionId[]> {
  const names = await readdir(root).catch((): string[] => []);
  return names.filter((name): name is SessionId => isId('ses', name));
}
