/**
 * The one way in which tools change a file: find it, read what is there, let the tool say what it becomes, ask where that
 * is needed, keep the old state, put the new one in its place. A call that a crash cut short is taken up again by what
 * it left: its checkpoint says what the file was and what it was to become.
 */
import { access, constants, readdir, rmdir } from 'node:fs/promises';
import { basename } from 'node:path';
import { isProtected } from '../protected-names.ts';
import type { ToolContext, ToolOutcome } from '../tool.ts';
import { fileProblem } from '../workspace-path.ts';
import { grouped } from '../output-bound.ts';
import { changingPlan, mayGoOn, outsideText, readingPlan, type Approved } from './ask-first.ts';
import type { Located } from './confined-open.ts';
import { atPlace, failed, hiddenText, wholeFileBytesMax, type FileDeps, type Place } from './file-deps.ts';
import { zoneByNames } from './other-names.ts';
import { readWhole, sha256Of } from './read-whole.ts';
import { replaceFile } from './replace-file.ts';
import { unifiedDiff } from './unified-diff.ts';

/** A person is shown all of a change; what is longer than a gate shows, it refuses. */
const shownDiffCharsMax = 2 * wholeFileBytesMax;

export interface Existing {
  readonly shown: string;
  /** Null if there is no such file yet. */
  readonly content: Buffer | null;
  /** What this session last saw of it, as a hash; null if it never did. */
  readonly seen: string | null;
  readonly sha256: string | null;
}

export type Becomes =
  | { readonly kind: 'content'; readonly content: Buffer; readonly text: string }
  | { readonly kind: 'failed'; readonly text: string };

export interface Change {
  readonly tool: string;
  readonly path: string;
  readonly approved: Approved;
  /** The answer tells what was in the file. */
  readonly showsOld: boolean;
  readonly becomes: (existing: Existing) => Becomes;
}

export function changeFile(deps: FileDeps, change: Change, context: ToolContext): Promise<ToolOutcome> {
  return changeOrReplace(deps, change, context, true);
}

/** `mayStandIn`: an empty folder of a protected name counts as nothing, and is taken away first. */
async function changeOrReplace(
  deps: FileDeps,
  change: Change,
  context: ToolContext,
  mayStandIn: boolean,
): Promise<ToolOutcome> {
  if (change.path.endsWith('/')) return failed(`${change.path} names a folder. Give the path of a file.`);
  return atPlace(deps, change.path, context, async (place) => {
    if (place.where.kind === 'refused') return failed(place.where.problem);
    try {
      const isStandIn = mayStandIn && (await standsIn(place.where));
      const where = isStandIn ? { ...place.where, name: basename(place.where.path) } : place.where;
      const outcome = await changeAt(deps, change, context, place, { ...where, isStandIn });
      return outcome === 'stood-in' ? await changeOrReplace(deps, change, context, false) : outcome;
    } catch (error) {
      context.signal.throwIfAborted();
      return failed(`${place.where.shown} could not be written: ${fileProblem(error)}.`);
    }
  });
}

async function changeAt(
  deps: FileDeps,
  change: Change,
  context: ToolContext,
  place: Place,
  where: Located & { readonly isStandIn: boolean },
): Promise<ToolOutcome | 'stood-in'> {
  const { shown, path } = where;
  const problem = await whyNotReplaceable(where);
  if (problem !== null) return failed(`${shown} ${problem}, so nothing was written.`);
  const stopped = change.showsOld ? await askToRead(deps, change, context, place, where) : null;
  if (stopped !== null) return stopped;

  const content = where.entry === null ? null : await readWhole(where.entry, wholeFileBytesMax);
  if (content === null && where.entry !== null) {
    return failed(`${shown} has more than ${grouped(wholeFileBytesMax)} bytes, so nothing was written.`);
  }
  const sha256 = content === null ? null : sha256Of(content);
  const seen = await deps.seen.get(context.spoolFolder, path);
  const next = change.becomes({ shown, content, seen, sha256 });
  if (next.kind === 'failed') {
    // Why it does not fit would tell what is in a file that nobody has allowed to be looked at.
    const isUnread = where.zone === 'outside' && change.approved === null && seen === null;
    return failed(isUnread ? `${shown} is outside the workspace. Read it first.` : next.text);
  }

  const after = sha256Of(next.content);
  const refused = await askToWrite(deps, change, context, where, { content, sha256, next: next.content, after });
  if (refused !== null) return refused;
  context.signal.throwIfAborted();
  if (where.isStandIn) {
    await rmdir(path);
    return 'stood-in';
  }
  const mode = Number(where.entry?.stats.mode ?? 0) & 0o7777;
  await deps.shelf?.keep(context.sessionId, {
    callId: context.callId,
    tool: change.tool,
    workspace: context.workspace,
    files: [{ path, before: content === null ? null : { content, mode }, after }],
  });
  await replaceFile(where, next.content);
  await deps.seen.set(context.spoolFolder, path, after);
  return { kind: 'finished', text: next.text };
}

/** While a sandbox runs, an empty folder stands where a protected file is not. It is no reason not to write that file. */
async function standsIn({ zone, name, below, folder, missingFolders }: Located): Promise<boolean> {
  if (zone !== 'inside' || name !== '' || missingFolders.length > 0 || below === '' || !isProtected(below))
    return false;
  return (await readdir(folder.way)).length === 0;
}

/** Null if there is no such file yet, or one that may be replaced. */
async function whyNotReplaceable({ zone, name, entry }: Located): Promise<string | null> {
  if (zone === 'hidden') return 'belongs to Talaria itself or to the system';
  if (zone === 'readable') return 'is kept by Talaria and can only be read';
  if (name === '') return 'is a folder';
  if (entry === null) return null;
  if (!entry.stats.isFile()) return 'is not a regular file';
  // Replacing needs only the folder's permission; a file marked read-only is meant to stay as it is, also for root.
  if ((entry.stats.mode & 0o222n) === 0n) return 'is read-only';
  return access(entry.way, constants.W_OK).then(
    () => null,
    () => 'is read-only',
  );
}

/** A file that is somebody else's under another name may be replaced, which leaves theirs alone, but not shown. */
async function askToRead(
  deps: FileDeps,
  { approved }: Change,
  context: ToolContext,
  { zones, marks }: Place,
  where: Located,
): Promise<ToolOutcome | null> {
  if (where.entry === null || where.zone !== 'inside' || approved !== null) return null;
  const zone = await zoneByNames(where.entry, where.zone, zones, marks);
  if (zone === 'inside') return null;
  if (zone === 'hidden') return failed(hiddenText(where.shown));
  const plan = readingPlan(where, 'has another name outside the workspace');
  const answer = await mayGoOn(deps.gate, { ...plan, onceOnly: true }, context, null, where.shown);
  // Two questions for one call would be one too many: it has to be read by itself first.
  return answer?.kind === 'ask'
    ? failed(`${where.shown} has another name outside the workspace. Use read_file first.`)
    : answer;
}

async function askToWrite(
  { gate }: FileDeps,
  { approved }: Change,
  context: ToolContext,
  place: Located,
  states: { content: Buffer | null; sha256: string | null; next: Buffer; after: string },
): Promise<ToolOutcome | null> {
  const asksAlways = isProtected(place.below);
  if (place.zone === 'inside' && !asksAlways) return null;
  if (gate === null) {
    return failed(
      place.zone === 'outside' ? outsideText(place.shown) : `${place.shown} is protected, so nothing was written.`,
    );
  }
  const text = unifiedDiff(states.content?.toString() ?? '', states.next.toString(), { charsMax: shownDiffCharsMax });
  const plan = changingPlan({ place, isProtected: asksAlways, before: states.sha256, after: states.after, text });
  return mayGoOn(gate, plan, context, approved, place.shown);
}

/** After a crash: what became of a change that had begun. `again` does it from the start. */
export async function takeUpChange(
  deps: FileDeps,
  change: { readonly path: string; readonly content: Buffer | null },
  context: ToolContext,
  again: () => Promise<ToolOutcome>,
): Promise<ToolOutcome> {
  const kept = await deps.shelf?.list(context.sessionId);
  const file = kept?.find(({ callId }) => callId === context.callId)?.files[0];
  // The checkpoint comes first: where there is none, nothing was touched.
  if (kept !== undefined && file === undefined) return again();
  const after = file?.after ?? (change.content === null ? null : sha256Of(change.content));
  const now = await atPlace(deps, file?.path ?? change.path, context, async ({ where }) => {
    if (where.kind === 'refused' || where.entry === null || where.zone === 'hidden') return null;
    if (!where.entry.stats.isFile()) return null;
    return readWhole(where.entry, wholeFileBytesMax).then((bytes) => (bytes === null ? null : sha256Of(bytes)));
  });
  if (now !== null && now === after) {
    await deps.seen.set(context.spoolFolder, file?.path ?? change.path, now);
    return { kind: 'finished', text: `${change.path} was written; Talaria was interrupted in that moment.` };
  }
  if (file !== undefined && now === (file.before?.sha256 ?? null)) return again();
  return {
    kind: 'unknown',
    text: `Talaria was interrupted while it wrote ${change.path}, which is neither as it was nor as it should be. Read it first.`,
  };
}
