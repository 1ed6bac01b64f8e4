/**
 * Holds imported packages against package.json: what runs in production is a dependency, what is only for types, tests
 * or tools may be a development one, and nothing is listed that nobody uses.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isForTests, packagesByCommand } from './import-table.ts';
import { finding, type Edge, type Finding, type SourceTree } from './source-tree.ts';

interface Manifest {
  readonly scripts?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

export function checkPackages(root: string, tree: SourceTree): Finding[] {
  const program = readManifest(root, 'package.json');
  const web = readManifest(root, 'web/package.json');
  const packageEdges = tree.edges.filter(({ target }) => target.kind === 'package');
  const [webEdges, programEdges] = [packageEdges.filter(isWeb), packageEdges.filter((edge) => !isWeb(edge))];
  const all = (manifest: Manifest) => ({ ...manifest.dependencies, ...manifest.devDependencies });
  return [
    ...tree.edges.flatMap(unprefixedBuiltin),
    ...webEdges.flatMap((edge) => missing(edge, all(web), 'is not in web/package.json')),
    ...programEdges.flatMap((edge) =>
      isProduction(edge)
        ? missing(edge, program.dependencies ?? {}, 'is not in the dependencies of package.json')
        : missing(edge, all(program), 'is not in package.json'),
    ),
    ...unused('web/package.json', Object.keys(all(web)), new Set(webEdges.map(nameOf))),
    ...unused(
      'package.json',
      Object.keys(program.dependencies ?? {}),
      new Set(programEdges.filter(isProduction).map(nameOf)),
    ),
    ...unused('package.json', toolsNotRun(program), new Set(programEdges.map(nameOf))),
  ];
}

function readManifest(root: string, path: string): Manifest {
  return JSON.parse(readFileSync(join(root, path), 'utf8')) as Manifest;
}

function isWeb({ from }: Edge): boolean {
  return from.startsWith('web/');
}

function isProduction({ from, typeOnly }: Edge): boolean {
  return from.startsWith('src/') && !typeOnly && !isForTests(from);
}

function nameOf({ target }: Edge): string {
  return target.kind === 'package' ? target.name : '';
}

function unprefixedBuiltin(edge: Edge): Finding[] {
  if (edge.target.kind !== 'builtin' || edge.target.name.startsWith('node:')) return [];
  return [finding(edge, `a module of Node is written node:${edge.target.name}`)];
}

function missing(edge: Edge, listed: Readonly<Record<string, string>>, rule: string): Finding[] {
  return Object.hasOwn(listed, nameOf(edge)) ? [] : [finding(edge, rule)];
}

function unused(manifest: string, names: readonly string[], used: ReadonlySet<string>): Finding[] {
  return names
    .filter((name) => !used.has(name))
    .map((name) => ({ where: manifest, what: name, rule: 'is listed and nobody imports it' }));
}

/** Development packages that no script runs, so that somebody must import them. The pinned Node is optional. */
function toolsNotRun({ scripts = {}, devDependencies = {}, optionalDependencies = {} }: Manifest): string[] {
  const commands = Object.values(scripts).join('\n');
  const optional = Object.keys(optionalDependencies).filter((name) => !name.startsWith('node-'));
  return [...Object.keys(devDependencies), ...optional].filter((name) => {
    const command = packagesByCommand[name];
    return !name.startsWith('@types/') && (command === undefined || !commands.includes(command));
  });
}
