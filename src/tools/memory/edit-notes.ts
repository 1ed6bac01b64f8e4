/**
 * A memory as its file holds it: Markdown, each line that begins with `- ` an entry, the oldest first. Whatever else a
 * person wrote there stays as it is and where it is. Pure.
 */
export interface Notes {
  /** Without the line break at the end. */
  readonly lines: readonly string[];
}

/** Of untrusted origin, at the end of a line. */
const originPattern = / \(from (?:web|mcp|webhook|stranger)\)$/u;

export function readNotes(text: string): Notes {
  const lines = text.replace(/^\ufeff/u, '').split('\n');
  while (lines.at(-1)?.trim() === '') lines.pop();
  return { lines };
}

export function writeNotes({ lines }: Notes): string {
  return lines.length === 0 ? '' : `${lines.join('\n')}\n`;
}

export function entriesOf({ lines }: Notes): readonly string[] {
  return lines.filter(isEntry).map(entryText);
}

export function charsOf(notes: Notes): number {
  return writeNotes(notes).length;
}

export function isEntry(line: string): boolean {
  return /^[-*+] \s*\S/u.test(line);
}

function entryText(line: string): string {
  return line.slice(2).trim();
}

/** What it says, wherever it is from. */
export function factOf(entry: string): string {
  return entry.replace(originPattern, '');
}

export function hasFact(notes: Notes, fact: string): boolean {
  return entriesOf(notes).some((entry) => factOf(entry) === factOf(fact));
}

export function addEntry(notes: Notes, entry: string): Notes {
  return { lines: [...notes.lines, `- ${entry}`] };
}

export type FoundEntry =
  | { readonly kind: 'found'; readonly index: number; readonly entry: string }
  | { readonly kind: 'none' }
  | { readonly kind: 'several'; readonly entries: readonly string[] };

/** The one entry that is this, or else the one that has it in it. */
export function findEntry({ lines }: Notes, wanted: string): FoundEntry {
  const all = lines.flatMap((line, index) => (isEntry(line) ? [{ index, entry: entryText(line) }] : []));
  const same = all.filter(({ entry }) => entry === wanted || factOf(entry) === wanted);
  const found = same.length > 0 ? same : all.filter(({ entry }) => entry.includes(wanted));
  const [first] = found;
  if (first === undefined) return { kind: 'none' };
  if (found.length === 1 || same.length > 0) return { kind: 'found', ...first };
  return { kind: 'several', entries: found.map(({ entry }) => entry) };
}

export function replaceEntry({ lines }: Notes, index: number, entry: string): Notes {
  return { lines: lines.with(index, `- ${entry}`) };
}

export function removeEntry({ lines }: Notes, index: number): Notes {
  return { lines: lines.toSpliced(index, 1) };
}

export function withoutFact({ lines }: Notes, fact: string): Notes {
  return { lines: lines.filter((line) => !isEntry(line) || factOf(entryText(line)) !== fact) };
}

/** Takes the oldest entries but this one out until the rest fits; null if that is not enough. */
export function makeRoom(
  notes: Notes,
  kept: string,
  charsMax: number,
): { readonly notes: Notes; readonly taken: readonly string[] } | null {
  let rest = notes;
  const taken: string[] = [];
  while (charsOf(rest) > charsMax) {
    const oldest = rest.lines.findIndex((line) => isEntry(line) && entryText(line) !== kept);
    if (oldest < 0) return null;
    taken.push(entryText(rest.lines[oldest] ?? ''));
    rest = removeEntry(rest, oldest);
  }
  return { notes: rest, taken };
}
