/**
 * The difference of two texts as a unified diff, by lines. Exact up to a number of differences (Myers' greedy search);
 * texts that differ more are shown as one block that replaces another. Pure and bounded.
 */
import { boundText } from '../output-bound.ts';

/** The search takes room by the square of it. */
const differencesMax = 400;
const contextLines = 3;

type Row = readonly [' ' | '-' | '+', string];

export interface DiffOptions {
  readonly charsMax: number;
}

/** Empty if they are the same. Lines are shown without their ends. */
export function unifiedDiff(before: string, after: string, { charsMax }: DiffOptions): string {
  if (before === after) return '';
  const [old, now] = [linesOf(before), linesOf(after)];
  const rows = diffRows(old, now);
  return boundText(hunks(rows).join('\n'), charsMax);
}

/** A last line without an end differs from the same one with it. */
function linesOf(text: string): string[] {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  else lines.push(`${lines.pop() ?? ''}\n\\ no newline at the end`);
  return lines;
}

function diffRows(old: readonly string[], now: readonly string[]): Row[] {
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start += 1;
  let end = 0;
  while (end < old.length - start && end < now.length - start && old.at(-1 - end) === now.at(-1 - end)) end += 1;
  const same = (lines: readonly string[]): Row[] => lines.map((line) => [' ', line]);
  const [oldPart, newPart] = [old.slice(start, old.length - end), now.slice(start, now.length - end)];
  const middle = shortestEdit(oldPart, newPart) ?? [
    ...oldPart.map((line): Row => ['-', line]),
    ...newPart.map((line): Row => ['+', line]),
  ];
  return [...same(old.slice(0, start)), ...middle, ...same(old.slice(old.length - end))];
}

/** Null if more than the limit differs. */
function shortestEdit(old: readonly string[], now: readonly string[]): Row[] | null {
  const trace: Int32Array[] = [];
  const middle = differencesMax + 1;
  const furthest = new Int32Array(2 * middle + 1);
  for (let depth = 0; depth <= differencesMax; depth += 1) {
    trace.push(furthest.slice());
    for (let diagonal = -depth; diagonal <= depth; diagonal += 2) {
      let x = startOf(furthest, middle, diagonal, depth);
      while (x < old.length && x - diagonal < now.length && old[x] === now[x - diagonal]) x += 1;
      furthest[middle + diagonal] = x;
      if (x >= old.length && x - diagonal >= now.length) return wayBack(trace, middle, old, now);
    }
  }
  return null;
}

function startOf(furthest: Int32Array, middle: number, diagonal: number, depth: number): number {
  const below = furthest[middle + diagonal - 1] ?? 0;
  const above = furthest[middle + diagonal + 1] ?? 0;
  if (diagonal === -depth) return above;
  return diagonal !== depth && below < above ? above : below + 1;
}

function wayBack(trace: readonly Int32Array[], middle: number, old: readonly string[], now: readonly string[]): Row[] {
  const rows: Row[] = [];
  let [x, y] = [old.length, now.length];
  for (let depth = trace.length - 1; depth >= 0; depth -= 1) {
    const furthest = trace[depth] ?? new Int32Array();
    const diagonal = x - y;
    const below = furthest[middle + diagonal - 1] ?? 0;
    const above = furthest[middle + diagonal + 1] ?? 0;
    const isInsert = diagonal === -depth || (diagonal !== depth && below < above);
    const fromX = depth === 0 ? 0 : isInsert ? above : below;
    const fromY = depth === 0 ? 0 : fromX - (isInsert ? diagonal + 1 : diagonal - 1);
    while (x > fromX && y > fromY) {
      x -= 1;
      y -= 1;
      rows.push([' ', old[x] ?? '']);
    }
    if (depth === 0) break;
    rows.push(isInsert ? ['+', now[fromY] ?? ''] : ['-', old[fromX] ?? '']);
    [x, y] = [fromX, fromY];
  }
  return rows.reverse();
}

function hunks(rows: readonly Row[]): string[] {
  const shown = rows.map(() => false);
  for (const [index, [sign]] of rows.entries()) {
    if (sign === ' ') continue;
    for (let near = index - contextLines; near <= index + contextLines; near += 1) {
      if (near >= 0 && near < rows.length) shown[near] = true;
    }
  }
  const lines: string[] = [];
  let [oldLine, newLine] = [1, 1];
  for (const [index, [sign, line]] of rows.entries()) {
    if (shown[index] === true) {
      if (shown[index - 1] !== true) lines.push(header(rows, shown, index, oldLine, newLine));
      lines.push(`${sign}${line}`);
    }
    if (sign !== '+') oldLine += 1;
    if (sign !== '-') newLine += 1;
  }
  return lines;
}

function header(
  rows: readonly Row[],
  shown: readonly boolean[],
  from: number,
  oldLine: number,
  newLine: number,
): string {
  const [counts, start] = [{ old: 0, new: 0 }, from];
  for (let index = start; index < rows.length && shown[index] === true; index += 1) {
    if (rows[index]?.[0] !== '+') counts.old += 1;
    if (rows[index]?.[0] !== '-') counts.new += 1;
  }
  const range = (line: number, count: number) => `${count === 0 ? line - 1 : line},${count}`;
  return `@@ -${range(oldLine, counts.old)} +${range(newLine, counts.new)} @@`;
}
