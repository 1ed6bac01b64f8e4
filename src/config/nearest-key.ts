/** The known key that an unknown one most likely means, or null if none is near enough to be worth a guess. */

/** Longer words are never compared: the cost grows with the square. */
const charsMax = 64;

export function nearestKey(word: string, known: Iterable<string>): string | null {
  if (word.length > charsMax) return null;
  const plain = withoutStyle(word);
  let best: { key: string; distance: number } | null = null;
  for (const key of known) {
    const distance = editDistance(plain, withoutStyle(key));
    const allowed = Math.max(1, Math.floor(Math.max(word.length, key.length) / 3));
    if (distance <= allowed && distance < (best?.distance ?? Infinity)) best = { key, distance };
  }
  return best?.key ?? null;
}

/** `idleTtlS` and `idle-ttl-s` mean `idle_ttl_s`. */
function withoutStyle(word: string): string {
  return word.toLowerCase().replace(/[-_]/g, '');
}

/** Insertions, deletions, replacements and swaps of neighbours. */
function editDistance(from: string, to: string): number {
  const rows: number[][] = [Array.from({ length: to.length + 1 }, (_, column) => column)];
  const at = (row: number, column: number) => rows[row]?.[column] ?? Infinity;
  for (let row = 1; row <= from.length; row++) {
    const current = [row];
    rows.push(current);
    for (let column = 1; column <= to.length; column++) {
      const same = from[row - 1] === to[column - 1];
      const swapped = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      current.push(
        Math.min(
          at(row - 1, column) + 1,
          at(row, column - 1) + 1,
          at(row - 1, column - 1) + (same ? 0 : 1),
          swapped ? at(row - 2, column - 2) + 1 : Infinity,
        ),
      );
    }
  }
  return at(from.length, to.length);
}
