/** Lines up columns of text as a terminal shows them. The last column is cut to the width, the others are not. */
import type { CommandContext } from './command.ts';

export function formatTable(rows: readonly (readonly string[])[], columnsMax: number): string[] {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [index, cell] of row.entries()) widths[index] = Math.max(widths[index] ?? 0, displayWidth(cell));
  }
  return rows.map((row) => {
    const left = row.slice(0, -1).map((cell, index) => cell + ' '.repeat((widths[index] ?? 0) - displayWidth(cell)));
    const used = left.reduce((sum, cell) => sum + displayWidth(cell) + 2, 0);
    return [...left, cutToWidth(row.at(-1) ?? '', columnsMax - used)].join('  ').trimEnd();
  });
}

/** Prints a table with its head, as wide as the terminal or, into a file or pipe, as wide as it is. */
export async function writeTable(
  { streams }: Pick<CommandContext, 'streams'>,
  head: readonly string[],
  rows: readonly (readonly string[])[],
): Promise<void> {
  const columns = streams.stdoutIsTty ? streams.columns : Infinity;
  const [first = '', ...lines] = formatTable([head, ...rows], columns);
  await streams.write(`${[streams.outStyle.dim(first), ...lines].join('\n')}\n`);
}

const wide =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Emoji_Presentation}\uff01-\uff60]/u;
const widthless = /\p{M}|[\u200b-\u200f]/u;

/** How many columns the text takes on a terminal: two for East Asian characters and emoji, none for marks. */
export function displayWidth(text: string): number {
  let width = 0;
  for (const character of text) width += characterWidth(character);
  return width;
}

function characterWidth(character: string): number {
  if (character < '\u0300') return 1;
  if (widthless.test(character)) return 0;
  return wide.test(character) ? 2 : 1;
}

function cutToWidth(text: string, widthMax: number): string {
  if (displayWidth(text) <= widthMax) return text;
  let cut = '';
  let width = 1;
  for (const character of text) {
    width += characterWidth(character);
    if (width > widthMax) break;
    cut += character;
  }
  return `${cut}…`;
}
