/**
 * Puts files back as they were before one of the checkpoints. All of them or, if somebody else has changed one since,
 * none unless that is asked for. What it does is itself a checkpoint, kept before the first file is touched; done half
 * and asked for again, it does the rest.
 */
import type { SessionId } from '../../protocol/ids.ts';
import type { ChangedFile, Checkpoint, CheckpointShelf } from './checkpoint-shelf.ts';
import { atPath, type Located, type Whereabouts } from './confined-open.ts';
import { readWhole, sha256Of } from './read-whole.ts';
import { removeFile, replaceFile } from './replace-file.ts';
import { fileProblem } from '../workspace-path.ts';
import { readMarks, type ZoneFolders } from './zones.ts';

export type RollbackOutcome =
  | { readonly kind: 'no-such-checkpoint' }
  /** Nothing was done: these are not as a tool left them. Each with why. */
  | { readonly kind: 'changed-since'; readonly files: readonly string[] }
  /** `number`: of the checkpoint that takes it back; null if everything was as it should be. */
  | { readonly kind: 'done'; readonly number: number | null; readonly files: readonly string[] };

export interface RollbackDeps {
  readonly shelf: CheckpointShelf;
  readonly zonesFor: (workspace: string) => ZoneFolders;
  readonly bytesMax: number;
}

export async function rollBack(
  deps: RollbackDeps,
  sessionId: SessionId,
  to: number,
  isForced: boolean,
): Promise<RollbackOutcome> {
  const undone = (await deps.shelf.list(sessionId)).filter(({ number }) => number >= to);
  if (undone.at(-1)?.number !== to) return { kind: 'no-such-checkpoint' };
  const wanted = wantedStates(undone);
  const looked = await Promise.all([...wanted].map(([path, want]) => look(deps, path, want)));
  const blocked = looked.filter((file) => file.problem !== null && (file.isFixed || !isForced));
  if (blocked.length > 0) {
    return { kind: 'changed-since', files: blocked.map(({ path, problem }) => `${path}: ${problem}`) };
  }
  const open = looked.filter(({ now, want }) => (now?.sha256 ?? null) !== (want.file.before?.sha256 ?? null));
  if (open.length === 0) return { kind: 'done', number: null, files: [] };
  // Keeping one more may let go of the oldest, which may be just these.
  const contents = await Promise.all(open.map(({ want }) => oldContent(deps, sessionId, want)));
  const number = await deps.shelf.keep(sessionId, {
    callId: 'rollback',
    tool: 'rollback',
    workspace: undone[0]?.workspace ?? '',
    files: open.map(({ path, now, want }) => ({
      path,
      before: now === null ? null : { content: now.content, mode: now.mode },
      after: want.file.before?.sha256 ?? null,
    })),
  });
  for (const [index, file] of open.entries()) await restore(deps, file, contents[index] ?? null);
  return { kind: 'done', number, files: open.map(({ path }) => path) };
}

interface Wanted {
  readonly workspace: string;
  readonly checkpoint: number;
  readonly index: number;
  /** As the oldest of the undone checkpoints has it. */
  readonly file: ChangedFile;
  /** Every state that a tool found or left it in meanwhile. */
  readonly known: ReadonlySet<string | null>;
}

/** `undone` is in order, newest first: so the last one that is met decides. */
function wantedStates(undone: readonly Checkpoint[]): ReadonlyMap<string, Wanted> {
  const wanted = new Map<string, Wanted>();
  for (const { number: checkpoint, workspace, files } of undone) {
    for (const [index, file] of files.entries()) {
      const known = new Set(wanted.get(file.path)?.known).add(file.after).add(file.before?.sha256 ?? null);
      wanted.set(file.path, { workspace, checkpoint, index, file, known });
    }
  }
  return wanted;
}

interface Looked {
  readonly path: string;
  readonly want: Wanted;
  readonly now: { readonly sha256: string; readonly content: Buffer; readonly mode: number } | null;
  readonly problem: string | null;
  /** No force helps. */
  readonly isFixed: boolean;
}

async function look(deps: RollbackDeps, path: string, want: Wanted): Promise<Looked> {
  const at = { path, want };
  const fixed = (problem: string): Looked => ({ ...at, now: null, problem, isFixed: true });
  return there(deps, path, want, async (where) => {
    if (where.kind === 'refused') return fixed(where.problem);
    if (where.entry === null) {
      const problem = want.known.has(null) ? null : 'somebody has removed it';
      return { ...at, now: null, problem, isFixed: false };
    }
    try {
      const content = await readWhole(where.entry, deps.bytesMax);
      if (content === null) return fixed('it has become too large');
      const sha256 = sha256Of(content);
      const problem = want.known.has(sha256) ? null : 'somebody else has changed it since';
      return {
        ...at,
        now: { sha256, content, mode: Number(where.entry.stats.mode) & 0o7777 },
        problem,
        isFixed: false,
      };
    } catch (error) {
      return fixed(`it can't be read: ${fileProblem(error)}`);
    }
  });
}

function oldContent({ shelf }: RollbackDeps, sessionId: SessionId, want: Wanted): Promise<Buffer | null> {
  return want.file.before === null ? Promise.resolve(null) : shelf.content(sessionId, want.checkpoint, want.index);
}

async function restore(deps: RollbackDeps, { path, want, now }: Looked, content: Buffer | null): Promise<void> {
  await there(deps, path, want, async (where) => {
    if (where.kind === 'refused') throw new Error(where.problem);
    const found = where.entry === null ? null : await readWhole(where.entry, deps.bytesMax);
    const state = found === null ? null : sha256Of(found);
    if (state !== (now?.sha256 ?? null)) throw new Error(`${path} was changed in this moment. Try again.`);
    if (content === null) await removeFile(where);
    else await replaceFile(where, content, want.file.before?.mode);
  });
}

/** Where the file was is where it must be: a link that was put in the way since leads elsewhere. */
async function there<T>(
  { zonesFor }: RollbackDeps,
  path: string,
  { workspace }: Wanted,
  use: (where: ({ readonly kind: 'located' } & Located) | Extract<Whereabouts, { kind: 'refused' }>) => Promise<T>,
): Promise<T> {
  const marks = await readMarks(zonesFor(workspace));
  return atPath(path, { workspace, marks }, (where) => {
    if (where.kind === 'refused') return use(where);
    const problem = problemAt(where, path);
    return use(problem === null ? where : { kind: 'refused', problem });
  });
}

function problemAt(where: Located, path: string): string | null {
  if (where.path !== path) return 'it is somewhere else now';
  if (where.zone === 'hidden' || where.zone === 'readable') return 'it may not be changed';
  if (where.name === '') return 'it is a folder now';
  return where.entry === null || where.entry.stats.isFile() ? null : 'it is not a regular file any more';
}
