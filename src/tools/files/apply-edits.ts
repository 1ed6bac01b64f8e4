/**
 * Replaces pieces of a text: each piece is looked for exactly, and if it is not there, once more without regard to how
 * far its lines are indented and what blanks they end in. What could mean two places is never guessed. All edits or
 * none. Pure.
 */
/** Spaces for one tab. */
const tabWidthMax = 8;

export interface Edit {
  readonly old: string;
  readonly new: string;
  readonly all?: boolean | undefined;
}

export type EditedText =
  /** `loose`: numbers of the edits that fitted only without regard to indentation. */
  | { readonly kind: 'edited'; readonly text: string; readonly loose: readonly number[] }
  /** A sentence that leads on. */
  | { readonly kind: 'failed'; readonly problem: string };

export function applyEdits(text: string, edits: readonly Edit[]): EditedText {
  const loose: number[] = [];
  let now = text;
  for (const [index, edit] of edits.entries()) {
    const which = edits.length === 1 ? '`old`' : `\`old\` of edit ${index + 1}`;
    const done = applyEdit(now, edit, which);
    if (done.kind === 'failed') return done;
    if (done.loose.length > 0) loose.push(index + 1);
    now = done.text;
  }
  if (now === text) return { kind: 'failed', problem: 'The edits change nothing.' };
  return { kind: 'edited', text: now, loose };
}

function applyEdit(text: string, edit: Edit, which: string): EditedText {
  if (edit.old === '') return { kind: 'failed', problem: `${which} is empty. To write a whole file, use write_file.` };
  const isCrlf = hasOtherEnds(text, edit.old);
  const old = isCrlf ? edit.old.replaceAll('\n', '\r\n') : edit.old;
  const replacement = isCrlf ? edit.new.replaceAll(/\r?\n/g, '\r\n') : edit.new;
  const first = text.indexOf(old);
  if (first < 0) return applyLoosely(text, old, replacement, which);
  if (edit.all === true) return { kind: 'edited', text: text.split(old).join(replacement), loose: [] };
  if (text.includes(old, first + 1)) {
    const count = text.split(old).length - 1;
    const often = count === 1 ? 'in places that overlap' : `${count} times`;
    return { kind: 'failed', problem: `${which} occurs ${often}. Give more lines around it, or "all": true.` };
  }
  return { kind: 'edited', text: text.slice(0, first) + replacement + text.slice(first + old.length), loose: [] };
}

/** The file's lines end in CRLF, those of the edit do not. Of a file with both ends, the edit may mean either. */
function hasOtherEnds(text: string, old: string): boolean {
  if (!text.includes('\r\n') || old.includes('\r\n')) return false;
  return !text.includes(old) || !/(?<!\r)\n/.test(text);
}

function applyLoosely(text: string, old: string, replacement: string, which: string): EditedText {
  const lines = text.split('\n');
  const wanted = withoutLastEnd(old).split('\n');
  const places: { readonly at: number; readonly indented: Indented }[] = [];
  for (let at = 0; at + wanted.length <= lines.length; at += 1) {
    const indented = indentationBetween(wanted, lines, at);
    if (indented !== null) places.push({ at, indented });
  }
  const [place, another] = places;
  if (place === undefined) {
    return { kind: 'failed', problem: `${which} is not in the file. Read the file again and copy it exactly.` };
  }
  if (another !== undefined) {
    const problem = `${which} is not in the file exactly, and fits ${places.length} places loosely. Copy it exactly.`;
    return { kind: 'failed', problem };
  }
  const replaced = indentLines(replacement === '' ? [] : withoutLastEnd(replacement).split('\n'), place.indented);
  if (replaced === null) {
    return {
      kind: 'failed',
      problem: `${which} fits only with another indentation than \`new\` has. Copy it exactly.`,
    };
  }
  const before = lines.slice(0, place.at);
  const after = lines.slice(place.at + wanted.length);
  return { kind: 'edited', text: [...before, ...replaced, ...after].join('\n'), loose: [1] };
}

/** How an indentation that the model wrote is written in the file; null if that can't be told. */
type Indented = (indent: string) => string | null;

/** Null if the lines differ in more than their indentation, in one way for all, and blanks at their ends. */
function indentationBetween(wanted: readonly string[], lines: readonly string[], at: number): Indented | null {
  const pairs: (readonly [wanted: string, found: string])[] = [];
  for (const [index, line] of wanted.entries()) {
    const found = lines[at + index] ?? '';
    if (line.trim() !== found.trim()) return null;
    if (line.trim() !== '') pairs.push([indentOf(line), indentOf(found)]);
  }
  const [first] = pairs;
  if (first === undefined) return null;
  const ways = [retabbed(...(pairs.find(([from, to]) => from !== to) ?? first)), shifted(...first)];
  return ways.find((way) => pairs.every(([from, to]) => way(from) === to)) ?? null;
}

/** Tabs for spaces or spaces for tabs, as many for each as in this pair. */
function retabbed(from: string, to: string): Indented {
  const [spaces, tabs] = from.includes(' ') ? [from, to] : [to, from];
  const width = spaces.length / tabs.length;
  if (!/^ +$/.test(spaces) || !/^\t+$/.test(tabs) || !Number.isInteger(width) || width > tabWidthMax) return () => null;
  if (tabs === from) return (indent) => (/^\t*$/.test(indent) ? ' '.repeat(width * indent.length) : null);
  return (indent) => {
    if (!/^ *$/.test(indent)) return null;
    return '\t'.repeat(Math.floor(indent.length / width)) + ' '.repeat(indent.length % width);
  };
}

/** What the two have at their ends is the same in both: the rest is what differs, and for all lines alike. */
function shifted(from: string, to: string): Indented {
  let common = 0;
  while (common < from.length && common < to.length && from.at(-1 - common) === to.at(-1 - common)) common += 1;
  const [away, instead] = [from.slice(0, from.length - common), to.slice(0, to.length - common)];
  return (indent) => (indent.startsWith(away) ? instead + indent.slice(away.length) : null);
}

function indentLines(lines: readonly string[], indented: Indented): string[] | null {
  const done: string[] = [];
  for (const line of lines) {
    const indent = indented(indentOf(line));
    if (line.trim() === '') done.push(line);
    else if (indent === null) return null;
    else done.push(indent + line.slice(indentOf(line).length));
  }
  return done;
}

function indentOf(line: string): string {
  return /^[ \t]*/.exec(line)?.[0] ?? '';
}

function withoutLastEnd(text: string): string {
  return text.replace(/\r?\n$/, '');
}
