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

/** Those whose facts are not there yet, each once. */
export function addMissing(notes: Notes, entries: readonly string[]): Notes {
  const known = new Set(entriesOf(notes).map(factOf));
  const missing = entries.filter((entry) => {
    const isNew = !known.has(factOf(entry));
    known.add(factOf(entry));
    return isNew;
  });
  return { lines: notes.lines.concat(missing.map((entry) => `- ${entry}`)) };
}

export type FoundEntry =
  | { readonly kind: 'found'; readonly index: number; readonly entry: string }
  | { readonly kind: 'none' }
  | { readonly kind: 'several'; readonly entries: readonly string[] };

/** The facts that are this, or else those that have it in them, of all these notes. */
export function factsLike(notes: readonly Notes[], wanted: string): readonly string[] {
  const entries = notes.flatMap(entriesOf);
  const same = entries.filter((entry) => entry === wanted || factOf(entry) === wanted);
  const found = same.length > 0 ? same : entries.filter((entry) => entry.includes(wanted));
  return [...new Set(found.map(factOf))];
}

/** The one fact that is this, or else the one that has it in it, where it first stands. */
export function findEntry({ lines }: Notes, wanted: string): FoundEntry {
  const all = lines.flatMap((line, index) => (isEntry(line) ? [{ index, entry: entryText(line) }] : []));
  const same = all.filter(({ entry }) => entry === wanted || factOf(entry) === wanted);
  const found = same.length > 0 ? same : all.filter(({ entry }) => entry.includes(wanted));
  const [first] = found;
  if (first === undefined) return { kind: 'none' };
  const facts = new Set(found.map(({ entry }) => factOf(entry)));
  if (facts.size === 1) return { kind: 'found', ...first };
  return { kind: 'several', entries: found.map(({ entry }) => entry) };
}

/** In the place of the first that says the same; the others go, or it would still be remembered. */
export function replaceEntry({ lines }: Notes, index: number, entry: string): Notes {
  const after = withoutFact({ lines: lines.slice(index + 1) }, factOf(entryText(lines[index] ?? '')));
  return { lines: [...lines.slice(0, index), `- ${entry}`, ...after.lines] };
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
  let chars = charsOf(notes);
  const taken: string[] = [];
  // In one go: a person's file may have any number of lines.
  const lines = notes.lines.filter((line) => {
    if (chars <= charsMax || !isEntry(line) || entryText(line) === kept) return true;
    chars -= line.length + 1;
    taken.push(entryText(line));
    return false;
  });
  return chars > charsMax ? null : { notes: { lines }, taken };
}
