/**
 * The texts of a skill as a person reads them before they say yes: of what is new the whole text, of what changed the
 * difference; `SKILL.md` first. Bounded, and what is left out is said. Nothing is run.
 */
import { boundText, grouped } from '../output-bound.ts';
import type { DiffTexts } from './build-change.ts';
import { fileBytesMax, skillFileName } from './skill-limits.ts';
import { readInside } from './skill-path.ts';
import { readTree } from './skill-tree.ts';

/** Of all of them. */
const charsMax = 20_000;
const fileCharsMax = 8_000;

export interface ShownText {
  readonly path: string;
  readonly text: string;
}

/** `before` is the folder of what was confirmed; null if there is nothing of that name. */
export async function shownTexts(diff: DiffTexts, before: string | null, after: string): Promise<readonly ShownText[]> {
  const tree = await readTree(after);
  if (tree.kind === 'broken') return [];
  const rank = (path: string) => (path === skillFileName ? 0 : 1);
  const files = tree.files.toSorted((one, other) => rank(one.path) - rank(other.path));
  const shown: ShownText[] = [];
  let left = charsMax;
  for (const { path, size } of files) {
    const [was, now] = [before === null ? null : await bytesOf(before, path), await bytesOf(after, path)];
    if (now === null || was?.equals(now) === true) continue;
    const text = now.includes(0) ? `(no text, ${grouped(size)} bytes)` : textOf(diff, was, now);
    const isFitting = text.length <= left;
    shown.push({ path, text: isFitting ? text : `(${grouped(size)} bytes, not shown here: look at its source)` });
    if (isFitting) left -= text.length;
  }
  return shown;
}

function textOf(diff: DiffTexts, was: Buffer | null, now: Buffer): string {
  const text = now.toString('utf8');
  return was === null || was.includes(0) ? boundText(text.trimEnd(), fileCharsMax) : diff(was.toString('utf8'), text);
}

async function bytesOf(folder: string, path: string): Promise<Buffer | null> {
  const file = await readInside(folder, path, fileBytesMax);
  return file.kind === 'read' ? Buffer.from(file.bytes) : null;
}
