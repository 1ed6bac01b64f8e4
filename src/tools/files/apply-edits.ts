/**
 * Replaces pieces of a text: each piece is looked for exactly, and if it is not there, once more without regard to how
 * far its lines are indented and what blanks they end in. What could mean two places is never guessed. All edits or
 * none. Pure.
 */
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
  const isCrlf = text.includes('\r\n') && !text.includes(edit.old) && !edit.old.includes('\r\n');
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

function applyLoosely(text: string, old: string, replacement: string, which: string): EditedText {
  const lines = text.split('\n');
  const wanted = withoutLastEnd(old).split('\n');
  const places: { readonly at: number; readonly shift: Shift }[] = [];
  for (let at = 0; at + wanted.length <= lines.length; at += 1) {
    const shift = shiftBetween(wanted, lines, at);
    if (shift !== null) places.push({ at, shift });
  }
  const [place, another] = places;
  if (place === undefined) {
    return { kind: 'failed', problem: `${which} is not in the file. Read the file again and copy it exactly.` };
  }
  if (another !== undefined) {
    const problem = `${which} is not in the file exactly, and fits ${places.length} places loosely. Copy it exactly.`;
    return { kind: 'failed', problem };
  }
  const shifted = shiftLines(replacement === '' ? [] : withoutLastEnd(replacement).split('\n'), place.shift);
  if (shifted === null) {
    return {
      kind: 'failed',
      problem: `${which} fits only with another indentation than \`new\` has. Copy it exactly.`,
    };
  }
  const before = lines.slice(0, place.at);
  const after = lines.slice(place.at + wanted.length);
  return { kind: 'edited', text: [...before, ...shifted, ...after].join('\n'), loose: [1] };
}

/** How lines that the model wrote are indented in the file. */
interface Shift {
  readonly from: string;
  readonly to: string;
}

/** Null if the lines differ in more than a common indentation and blanks at their ends. */
function shiftBetween(wanted: readonly string[], lines: readonly string[], at: number): Shift | null {
  let shift: Shift | null = null;
  for (const [index, line] of wanted.entries()) {
    const found = lines[at + index] ?? '';
    if (line.trim() !== found.trim()) return null;
    if (line.trim() === '') continue;
    shift ??= commonShift(indentOf(line), indentOf(found));
    if (shiftIndent(indentOf(line), shift) !== indentOf(found)) return null;
  }
  return shift;
}

/** What the two have at their ends is the same in both: the rest is what differs. */
function commonShift(from: string, to: string): Shift {
  let common = 0;
  while (common < from.length && common < to.length && from.at(-1 - common) === to.at(-1 - common)) common += 1;
  return { from: from.slice(0, from.length - common), to: to.slice(0, to.length - common) };
}

function shiftIndent(indent: string, { from, to }: Shift): string | null {
  return indent.startsWith(from) ? to + indent.slice(from.length) : null;
}

function shiftLines(lines: readonly string[], shift: Shift): string[] | null {
  const shifted: string[] = [];
  for (const line of lines) {
    const indent = shiftIndent(indentOf(line), shift);
    if (line.trim() === '') shifted.push(line);
    else if (indent === null) return null;
    else shifted.push(indent + line.slice(indentOf(line).length));
  }
  return shifted;
}

function indentOf(line: string): string {
  return /^[ \t]*/.exec(line)?.[0] ?? '';
}

function withoutLastEnd(text: string): string {
  return text.replace(/\r?\n$/, '');
}
