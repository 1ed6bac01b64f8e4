/**
 * Which state of which file a session has seen: by that it is noticed that somebody else changed a file since. Kept in
 * the session's spool, so that a restart forgets nothing. Lost or unreadable, it says that nothing was seen, which only
 * means that a file is read once more.
 */
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Sorts before every call's name, as those who tidy the spool expect of what belongs to no call. */
const recordFile = '.seen.json';
/** The oldest are forgotten. */
const filesMax = 1_000;

export interface SeenFiles {
  /** What the file was when it was last read or written here; null if it never was. */
  get(spoolFolder: string, path: string): Promise<string | null>;
  set(spoolFolder: string, path: string, state: string): Promise<void>;
}

export function createSeenFiles(): SeenFiles {
  /** Writes of one session, one after the other: two that read the same record would lose one of the lines. */
  const writing = new Map<string, Promise<void>>();
  return {
    async get(spoolFolder, path) {
      await writing.get(spoolFolder);
      return (await readRecord(spoolFolder)).get(path) ?? null;
    },
    set(spoolFolder, path, state) {
      const before = writing.get(spoolFolder) ?? Promise.resolve();
      const now = before.then(() => add(spoolFolder, path, state)).catch(() => {});
      writing.set(spoolFolder, now);
      return now.finally(() => {
        if (writing.get(spoolFolder) === now) writing.delete(spoolFolder);
      });
    },
  };
}

async function add(spoolFolder: string, path: string, state: string): Promise<void> {
  const record = await readRecord(spoolFolder);
  if (record.get(path) === state) return;
  record.delete(path);
  record.set(path, state);
  const kept = [...record].slice(-filesMax);
  await mkdir(spoolFolder, { recursive: true, mode: 0o700 });
  const temporary = join(spoolFolder, `.${crypto.randomUUID()}.tmp`);
  await writeFile(temporary, JSON.stringify(kept), { mode: 0o600 });
  await rename(temporary, join(spoolFolder, recordFile));
}

async function readRecord(spoolFolder: string): Promise<Map<string, string>> {
  try {
    const stored: unknown = JSON.parse(await readFile(join(spoolFolder, recordFile), 'utf8'));
    const rows = Array.isArray(stored) ? (stored as unknown[]) : [];
    return new Map(rows.filter(isRow));
  } catch {
    return new Map();
  }
}

function isRow(row: unknown): row is [string, string] {
  return Array.isArray(row) && row.length === 2 && row.every((part) => typeof part === 'string');
}
