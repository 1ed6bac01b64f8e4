/**
 * A page as text for the model: its accessibility tree, in which everything that can be acted on has a reference. The
 * reference carries the number of the document it was given out for (`d3e12`), so that one of an earlier page is never
 * taken for one of this page. Long trees are read in parts; after an action only what changed is shown. Pure.
 */
export const partCharsMax = 12_000;
const changesCharsMax = 6_000;
const removedLinesMax = 20;
/** If more than this of the lines are new, the whole is easier to read than the changes. */
const newShareMax = 0.5;

export interface Snapshot {
  readonly document: number;
  readonly lines: readonly string[];
}

export interface Reference {
  readonly document: number;
  /** As the page's side knows it. */
  readonly inner: string;
}

/** Null if it has not the form of one. */
export function readReference(text: string): Reference | null {
  const [, document, inner] = /^d(\d{1,9})((?:f\d{1,9})?e\d{1,9})$/.exec(text) ?? [];
  return document === undefined || inner === undefined ? null : { document: Number(document), inner };
}

/** `- role "name" [level=1] [ref=e2] [cursor=pointer]: text`; what stands in the name or the text is the page's own. */
const entry = /^(\s*- '?[\w-]+(?: "(?:[^"\\]|\\.)*")?)((?: \[[^\]]*\])+)/;

export function readSnapshot(tree: string, document: number): Snapshot {
  const lines = tree.split('\n').map((line) =>
    line.replace(entry, (_all, head: string, marks: string) => {
      const kept = marks.replaceAll(' [cursor=pointer]', '').replace(/ \[ref=([fe\d]+)\]/, ` [ref=d${document}$1]`);
      return head + kept;
    }),
  );
  return { document, lines: lines.filter((line) => line.trim() !== '') };
}

/** A part of it, from this character on, cut between lines where it can be. */
export function partOf({ lines }: Snapshot, offset: number): string {
  const text = lines.join('\n');
  if (offset > 0 && offset >= text.length) return `(the snapshot has only ${text.length} characters)`;
  if (text === '') return '(nothing to be seen on the page)';
  const rest = text.slice(offset);
  if (rest.length <= partCharsMax) return rest.toWellFormed();
  const lineEnd = rest.lastIndexOf('\n', partCharsMax);
  const part = rest.slice(0, lineEnd > partCharsMax / 2 ? lineEnd + 1 : partCharsMax);
  const left = rest.length - part.length;
  return `${part.toWellFormed().trimEnd()}\n[${left} characters more: snapshot with offset ${offset + part.length}]`;
}

/** What an action changed; the whole (its first part) for another document, or where most is new. */
export function changesBetween(before: Snapshot | null, after: Snapshot): string {
  if (before === null || before.document !== after.document) return partOf(after, 0);
  const old = countedLines(before.lines);
  const added = after.lines.filter((line) => !takeLine(old, line));
  const now = countedLines(after.lines);
  const removed = before.lines.filter((line) => !takeLine(now, line));
  if (added.length === 0 && removed.length === 0) return '(nothing changed on the page)';
  const changes = [
    ...removed.slice(0, removedLinesMax).map((line) => `-${line}`),
    ...(removed.length > removedLinesMax ? [`- (${removed.length - removedLinesMax} more lines gone)`] : []),
    ...added.map((line) => `+${line}`),
  ].join('\n');
  const isMostlyNew = added.length > 20 && added.length > after.lines.length * newShareMax;
  if (isMostlyNew || changes.length > changesCharsMax) return partOf(after, 0);
  return `Changed (- gone, + new; all else is as it was):\n${changes.toWellFormed()}`;
}

function countedLines(lines: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const line of lines) counts.set(line, (counts.get(line) ?? 0) + 1);
  return counts;
}

function takeLine(counts: Map<string, number>, line: string): boolean {
  const count = counts.get(line) ?? 0;
  counts.set(line, count - 1);
  return count > 0;
}

/** The line of a reference: what it is, for people. */
export function describeReference(snapshot: Snapshot | null, reference: string): string {
  const line = snapshot?.lines.find((one) => one.includes(`[ref=${reference}]`)) ?? reference;
  return line
    .trim()
    .replace(/^- /, '')
    .replace(/ \[.*$/, '')
    .slice(0, 100)
    .toWellFormed();
}
