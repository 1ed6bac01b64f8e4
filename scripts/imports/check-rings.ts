/** Finds files that import each other in a ring, type-only imports included: one shortest ring for each tangle. */
import type { Finding, SourceTree } from './source-tree.ts';

export function checkRings(tree: SourceTree): Finding[] {
  const graph = new Map<string, string[]>(tree.files.map((file) => [file, []]));
  for (const { from, target } of tree.edges) {
    if (target.kind === 'file' && graph.has(target.path)) graph.get(from)?.push(target.path);
  }
  const reported = new Set<string>();
  const findings: Finding[] = [];
  for (const file of tree.files) {
    if (reported.has(file)) continue;
    const ring = shortestRing(graph, file);
    if (ring === null) continue;
    for (const member of ring) reported.add(member);
    findings.push({ where: file, what: [...ring.slice(1), file].join(' → '), rule: 'no import rings' });
  }
  return findings;
}

/** The shortest way from a file back to itself, breadth first, as the files on it. */
function shortestRing(graph: ReadonlyMap<string, readonly string[]>, start: string): string[] | null {
  const cameFrom = new Map<string, string>();
  const queue = [start];
  for (const file of queue) {
    for (const next of graph.get(file) ?? []) {
      if (next === start) return pathTo(cameFrom, file);
      if (cameFrom.has(next)) continue;
      cameFrom.set(next, file);
      queue.push(next);
    }
  }
  return null;
}

function pathTo(cameFrom: ReadonlyMap<string, string>, end: string): string[] {
  const path = [end];
  for (let file = cameFrom.get(end); file !== undefined; file = cameFrom.get(file)) path.unshift(file);
  return path;
}
