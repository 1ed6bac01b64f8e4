import assert from 'node:assert/strict';
import { test } from 'node:test';
import { scanImports } from './scan-imports.ts';

const specifiers = (source: string) => scanImports(source).map(({ specifier }) => specifier);

test('finds every shape of an import, with its line and whether it is gone at run time', () => {
  const source = [
    `import 'side-effect';`,
    `import plain from './plain.ts';`,
    `import plainer, { type One, two as three } from "./names.ts";`,
    `import * as all from './all.ts';`,
    `import type { Shape } from './shape.ts';`,
    `import {`,
    `  many,`,
    `  names,`,
    `} from './lines.ts';`,
    `import data from './data.json' with { type: 'json' };`,
    `export { one } from './one.ts';`,
    `export * from './star.ts';`,
    `export * as star from './named-star.ts';`,
    `export type { Two } from './two.ts';`,
    `export type * from './three.ts';`,
    `const lazy = await import('./lazy.ts');`,
    `let later: typeof import('./later.ts');`,
    `new Worker(new URL('./thread.ts', import.meta.url));`,
    `const http = process.getBuiltinModule('node:http');`,
    `const old = require('old');`,
    `const path = import.meta.resolve('program/main.js');`,
    `const none = resolve('x') + path.resolve('y') + Promise.resolve('z');`,
  ].join('\n');
  assert.deepEqual(
    scanImports(source).map(({ specifier, line, typeOnly }) => `${line} ${specifier}${typeOnly ? ' type' : ''}`),
    [
      '1 side-effect',
      '2 ./plain.ts',
      '3 ./names.ts',
      '4 ./all.ts',
      '5 ./shape.ts type',
      '9 ./lines.ts',
      '10 ./data.json',
      '11 ./one.ts',
      '12 ./star.ts',
      '13 ./named-star.ts',
      '14 ./two.ts type',
      '15 ./three.ts type',
      '16 ./lazy.ts',
      '17 ./later.ts type',
      '18 ./thread.ts',
      '19 node:http',
      '20 old',
      '21 program/main.js',
    ],
  );
});

test('a default import that is called type is not a type-only import', () => {
  assert.deepEqual(scanImports(`import type from './a.ts';`), [{ specifier: './a.ts', line: 1, typeOnly: false }]);
});

test('what only looks like an import is none', () => {
  const source = [
    `// import a from 'comment';`,
    `/* import b from 'comment'; */`,
    `const text = "import c from 'string'";`,
    'const template = `import d from "template"`;',
    `export { local };`,
    `export const from = 'constant';`,
    `export type Name = 'name';`,
    `const url = new URL('./page.html', import.meta.url);`,
    `const other = new URL('./file.ts', base);`,
    `object.import('method'); object.require('method');`,
    `const table = { import: 'key', from: 'value' };`,
    `await import(computed);`,
  ].join('\n');
  assert.deepEqual(specifiers(source), []);
});

test('quotes in regular expressions, templates and comments do not hide what follows', () => {
  const source = [
    `const quote = /['"\`/]/g; import('./a.ts');`,
    `const half = total / 2; const rest = "it's / fine"; import('./b.ts');`,
    'const nested = `${`${{ a: "}" }.a}`} and ${import("./c.ts")}`; import("./d.ts");',
    `/* don't */ import('./e.ts'); // don't`,
    String.raw`const escaped = 'don\'t \\'; import('./f.ts');`,
    'const price = `costs $5`; import("./g.ts");',
    `return /[/'"]+/.test(text) ? import('./h.ts') : null;`,
  ].join('\n');
  assert.deepEqual(
    specifiers(source),
    ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].map((name) => `./${name}.ts`),
  );
});
