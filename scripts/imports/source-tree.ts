/** The files of a project and what they import, read once for all the checks. Paths are relative to the project. */
import { globSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { posix } from 'node:path';
import { scanImports } from './scan-imports.ts';

export interface Edge {
  readonly from: string;
  readonly line: number;
  readonly typeOnly: boolean;
  readonly target: Target;
}

export type Target =
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'builtin'; readonly name: string }
  | { readonly kind: 'package'; readonly name: string };

export interface SourceTree {
  readonly files: readonly string[];
  readonly edges: readonly Edge[];
}

/** What a check found: the two ends and the rule between them, as one line for a reader. */
export interface Finding {
  readonly where: string;
  readonly what: string;
  readonly rule: string;
}

const patterns = ['{src,web/src,test,bench,scripts}/**/*.{ts,tsx,js}'];

export function readSourceTree(root: string): SourceTree {
  const files = globSync(patterns, { cwd: root, exclude: ['**/node_modules/**'] })
    .map((path) => path.replaceAll('\\', '/'))
    .sort();
  const edges = files.flatMap((from) =>
    scanImports(readFileSync(join(root, from), 'utf8')).map(({ specifier, line, typeOnly }): Edge => ({
      from,
      line,
      typeOnly,
      target: targetOf(from, specifier),
    })),
  );
  return { files, edges };
}

function targetOf(from: string, specifier: string): Target {
  if (specifier.startsWith('.')) return { kind: 'file', path: posix.join(posix.dirname(from), specifier) };
  if (isBuiltin(specifier)) return { kind: 'builtin', name: specifier };
  const [scope = '', name = ''] = specifier.split('/');
  return { kind: 'package', name: scope.startsWith('@') ? `${scope}/${name}` : scope };
}

export function finding(edge: Edge, rule: string): Finding {
  const { target } = edge;
  return { where: `${edge.from}:${edge.line}`, what: target.kind === 'file' ? target.path : target.name, rule };
}
