/** The known names that a mistyped one most likely meant, nearest first; none if all are too far to be worth a guess. */

/** Longer names are never compared: the cost grows with the square. */
const nameCharsMax = 128;

/** Case, `-` and `_` make no difference: `idleTtlS` means `idle_ttl_s`. */
export function nearest(name: string, known: Iterable<string>, countMax = 1): string[] {
  if (name.length > nameCharsMax) return [];
  const near: { name: string; distance: number }[] = [];
  for (const candidate of known) {
    if (candidate.length > nameCharsMax) continue;
    const distance = editDistance(withoutStyle(name), withoutStyle(candidate));
    if (distance <= allowedDistance(name, candidate)) near.push({ name: candidate, distance });
  }
  near.sort((a, b) => a.distance - b.distance || (a.name < b.name ? -1 : 1));
  return near.slice(0, countMax).map((candidate) => candidate.name);
}

/** About a third of the name may be wrong; in very short ones one letter. */
function allowedDistance(name: string, candidate: string): number {
  return Math.max(1, Math.floor(Math.max(name.length, candidate.length) / 3));
}

function withoutStyle(name: string): string {
  return name.toLowerCase().replaceAll(/[-_]/g, '');
}

/** Insertions, deletions, replacements and swaps of neighbours (the optimal string alignment distance). */
function editDistance(from: string, to: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let row = 1; row <= from.length; row++) {
    const current = [row];
    for (let column = 1; column <= to.length; column++) {
      const replaced = at(last, column - 1) + (from[row - 1] === to[column - 1] ? 0 : 1);
      let cost = Math.min(at(current, column - 1) + 1, at(last, column) + 1, replaced);
      const swapped = row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      if (swapped) cost = Math.min(cost, at(beforeLast, column - 2) + 1);
      current.push(cost);
    }
    beforeLast = last;
    last = current;
  }
  return at(last, to.length);
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? Infinity;
}
