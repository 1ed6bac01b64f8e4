/** A Markdown table as columns of plain text, for a chat that has no tables. Pure. */

const cellCharsMax = 60;

/** Whether a table begins with these two lines. */
export function beginsTable(line: string, next: string): boolean {
  return line.includes('|') && next.includes('-') && /^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$/.test(next);
}

/** `lines` without the one that separates the head. */
export function tableText(lines: readonly string[]): string {
  const rows = lines.map(cellsOf);
  const columns = Math.max(...rows.map((row) => row.length));
  const widths = Array.from({ length: columns }, (_, column) =>
    Math.min(cellCharsMax, Math.max(...rows.map((row) => width(row[column] ?? '')))),
  );
  const toLine = (row: readonly string[]) =>
    widths
      .map((wide, column) => (row[column] ?? '') + ' '.repeat(Math.max(0, wide - width(row[column] ?? ''))))
      .join(' | ')
      .trimEnd();
  const [head = [], ...body] = rows;
  return [toLine(head), widths.map((wide) => '-'.repeat(wide)).join('-+-'), ...body.map(toLine)].join('\n');
}

function cellsOf(line: string): readonly string[] {
  const inner = line
    .trim()
    .replace(/^\|/, '')
    .replace(/(?<!\\)\|$/, '');
  return inner.split(/(?<!\\)\|/).map((cell) =>
    cell
      .trim()
      .replaceAll('\\|', '|')
      .replaceAll(/(\*\*|__|~~|`)(.+?)\1/g, '$2'),
  );
}

/** In characters, as good as it gets without knowing the font. */
function width(text: string): number {
  return text.replaceAll(/[\uDC00-\uDFFF]/g, '').length;
}
