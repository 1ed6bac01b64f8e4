/**
 * Checks that imports go one way: the table in imports/import-table.ts, no rings, packages in the right place. Prints
 * one line for each break, with both ends and the rule. Folders without such a check always tangle.
 */
import { join } from 'node:path';
import { checkBrowserSafety, checkFolders } from './imports/check-folders.ts';
import { checkPackages } from './imports/check-packages.ts';
import { checkRings } from './imports/check-rings.ts';
import { readSourceTree } from './imports/source-tree.ts';

/** One line for each break of a rule, sorted by file. */
export function checkImports(root: string): string[] {
  const tree = readSourceTree(root);
  const findings = [
    ...checkFolders(tree),
    ...checkBrowserSafety(tree),
    ...checkRings(tree),
    ...checkPackages(root, tree),
  ];
  return findings.map(({ where, what, rule }) => `${where} → ${what}: ${rule}`).sort();
}

if (import.meta.main) {
  const breaks = checkImports(join(import.meta.dirname, '..'));
  for (const line of breaks) console.error(line);
  console.error(breaks.length === 0 ? 'imports: all in order' : `imports: ${breaks.length} to mend`);
  process.exitCode = breaks.length === 0 ? 0 : 1;
}
