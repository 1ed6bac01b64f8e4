/** Finds the fenced code blocks of a Markdown text. Knows only as much of Markdown as it takes to cut a text well. */

export interface Fence {
  /** Where the opening line begins. */
  readonly start: number;
  /** Where the line after the opening one begins. */
  readonly contentStart: number;
  /** Where the closing line begins; the text's end if there is none. */
  readonly contentEnd: number;
  /** After the closing line. */
  readonly end: number;
  /** The line that opens it again, and the one that closes it; without a line break. */
  readonly opening: string;
  readonly closing: string;
}

const opener = /^(?<indent>[ \t]*)(?<marker>`{3,}|~{3,})(?<info>.*)$/;

/** In order. A block whose own lines would take up too much of a part is treated like any other text. */
export function findFences(text: string, charsMax: number): readonly Fence[] {
  const fences: Fence[] = [];
  let open: Opened | null = null;
  for (let at = 0; at < text.length;) {
    const next = lineEnd(text, at);
    const line = text.slice(at, next).trimEnd();
    if (open === null) open = openedBy(line, at, next, charsMax);
    else if (closes(line, open)) {
      fences.push(toFence(open, at, next));
      open = null;
    }
    at = next;
  }
  if (open !== null) fences.push(toFence(open, text.length, text.length));
  return fences;
}

interface Opened {
  readonly start: number;
  readonly contentStart: number;
  readonly indent: string;
  readonly marker: string;
  readonly opening: string;
}

function lineEnd(text: string, at: number): number {
  const lineBreak = text.indexOf('\n', at);
  return lineBreak === -1 ? text.length : lineBreak + 1;
}

function openedBy(line: string, start: number, contentStart: number, charsMax: number): Opened | null {
  const { indent, marker, info } = opener.exec(line)?.groups ?? {};
  if (indent === undefined || marker === undefined || info === undefined) return null;
  // Backticks after the marker make it code within a line.
  if (marker.startsWith('`') && info.includes('`')) return null;
  if (line.length > charsMax / 2 || indent.length + marker.length > charsMax / 8) return null;
  return { start, contentStart, indent, marker, opening: line.length > charsMax / 4 ? indent + marker : line };
}

function closes(line: string, { marker }: Opened): boolean {
  const content = line.trimStart();
  return content.length >= marker.length && content === marker.charAt(0).repeat(content.length);
}

function toFence({ start, contentStart, indent, marker, opening }: Opened, contentEnd: number, end: number): Fence {
  return { start, contentStart, contentEnd, end, opening, closing: indent + marker };
}
