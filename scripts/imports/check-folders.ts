/** Holds every import between files against the table: folders, contracts, siblings, tests, the browser. */
import { contracts, guardedBuiltins, importTable, isForTests, outsideFiles, siblingFolders } from './import-table.ts';
import { finding, type Edge, type Finding, type SourceTree } from './source-tree.ts';

export function checkFolders(tree: SourceTree): Finding[] {
  return tree.edges.flatMap((edge) => {
    const rule = brokenRule(edge);
    return rule === null ? [] : [finding(edge, rule)];
  });
}

function brokenRule({ from, target }: Edge): string | null {
  if (target.kind === 'package') return null;
  if (target.kind === 'builtin') return builtinRule(from, target.name);
  if (from.startsWith('src/'))
    return target.path.startsWith('src/') ? sourceRule(from, target.path) : outsideRule(from, target.path);
  if (!from.startsWith('web/')) return null;
  const allowed = ['web/src', 'src/protocol'].some((folder) => isIn(target.path, folder));
  return allowed ? testsRule(from, target.path) : 'web sees of src/ only protocol';
}

function builtinRule(from: string, name: string): string | null {
  const owner = guardedBuiltins[name];
  if (owner !== undefined && owner !== from && from.startsWith('src/')) return `${name} is loaded only by ${owner}`;
  if (isIn(from, 'src/protocol') && !isForTests(from)) return 'protocol imports no Node module';
  if (isIn(from, 'web/src') && !isForTests(from)) return 'web runs in a browser';
  return null;
}

function outsideRule(from: string, target: string): string | null {
  if (outsideFiles[target] === from || (isForTests(from) && isIn(target, 'test'))) return null;
  return 'src imports nothing outside src';
}

function sourceRule(fromPath: string, targetPath: string): string | null {
  const [from, target] = [fromPath.slice('src/'.length), targetPath.slice('src/'.length)];
  const row = rowOf(from);
  if (row === null) return `${from} is in no folder of the import table`;
  if (contracts.includes(from) && !['protocol', 'lib'].some((place) => isIn(target, place))) {
    return 'a contract imports only protocol and lib';
  }
  if (row === rowOf(target)) return siblingRule(from, target) ?? testsRule(from, target);
  const allowed = isForTests(from) ? reachable(row) : (importTable[row] ?? []);
  if (!allowed.some((place) => isIn(target, place))) return refusal(row, target);
  return testsRule(from, target);
}

function refusal(row: string, target: string): string {
  if (isIn(target, 'config')) return 'config is imported only by app and cli';
  return `${row} imports only ${importTable[row]?.join(', ') || 'itself'}`;
}

function siblingRule(from: string, target: string): string | null {
  const [folder = '', fromFamily = '', ...fromRest] = from.split('/');
  const [, targetFamily = '', ...targetRest] = target.split('/');
  const bothInside = fromRest.length > 0 && targetRest.length > 0;
  if (!bothInside || fromFamily === targetFamily || !siblingFolders.includes(folder)) return null;
  return `siblings never meet: ${folder}/${fromFamily} and ${folder}/${targetFamily}`;
}

function testsRule(from: string, target: string): string | null {
  return isForTests(target) && !isForTests(from) ? 'only tests import tests, fakes, set-ups and suites' : null;
}

/** The table's row for a path below src/: the longest key that fits. */
function rowOf(path: string): string | null {
  const fitting = Object.keys(importTable).filter((key) => isIn(path, key));
  return fitting.sort((a, b) => b.length - a.length)[0] ?? null;
}

/**
 * Tests run real parts rather than mocks: they may import whatever lies below their folder, and where the code knows
 * only a contract they may take an implementation of it.
 */
function reachable(row: string): string[] {
  const seen = new Set<string>();
  const visit = (place: string) => {
    const folder = rowOf(place) ?? place;
    if (seen.has(folder)) return;
    seen.add(folder);
    for (const next of importTable[folder] ?? []) visit(next);
  };
  visit(row);
  return [...seen];
}

function isIn(path: string, place: string): boolean {
  return path === place || path.startsWith(`${place}/`);
}

/** Whether what protocol takes from lib can run in a browser: nothing it loads, directly or not, loads Node. */
export function checkBrowserSafety(tree: SourceTree): Finding[] {
  return tree.edges.flatMap((edge) => {
    if (edge.typeOnly || isForTests(edge.from) || !isIn(edge.from, 'src/protocol')) return [];
    if (edge.target.kind !== 'file' || !isIn(edge.target.path, 'src/lib')) return [];
    const builtin = builtinLoadedBy(tree, edge.target.path);
    if (builtin === null) return [];
    return [finding(edge, `protocol runs in a browser, and this loads ${builtin.name} in ${builtin.file}`)];
  });
}

function builtinLoadedBy(tree: SourceTree, start: string): { name: string; file: string } | null {
  const queue = [start];
  const seen = new Set(queue);
  for (const file of queue) {
    for (const { from, target, typeOnly } of tree.edges) {
      if (from !== file || typeOnly) continue;
      if (target.kind === 'builtin') return { name: target.name, file };
      if (target.kind !== 'file' || seen.has(target.path)) continue;
      seen.add(target.path);
      queue.push(target.path);
    }
  }
  return null;
}
