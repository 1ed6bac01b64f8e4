/**
 * Who may import whom, as data: the table of docs/architecture.md. The rules around it (siblings, rings, the browser,
 * packages) are in the files beside this one.
 */

/**
 * A folder below src/ (or a single file there) and what its files may import besides their own folder. The longest key
 * that fits a file counts. A value that names a file is a contract: that file alone may be imported.
 */
export const importTable: Readonly<Record<string, readonly string[]>> = {
  'main.ts': ['cli', 'lib'],
  cli: ['app', 'config', 'tui', 'protocol', 'lib'],
  tui: ['protocol', 'lib'],
  app: ['gateway', 'channels', 'http', 'agent', 'tools', 'models', 'store', 'config', 'protocol', 'lib'],
  channels: ['http', 'protocol', 'lib'],
  http: ['lib'],
  gateway: [
    'agent',
    'channels/channel.ts',
    'models/model.ts',
    'tools/tool.ts',
    'tools/holding.ts',
    'store/store.ts',
    'protocol',
    'lib',
  ],
  agent: ['models/model.ts', 'tools/tool.ts', 'store/store.ts', 'protocol', 'lib'],
  tools: ['protocol', 'lib'],
  models: ['protocol', 'lib'],
  store: ['protocol', 'lib'],
  config: ['protocol', 'lib'],
  protocol: ['lib'],
  lib: [],
};

/** One file each, kept by the owner of the idea: it knows the shared words, not the rest of its folder. */
export const contracts: readonly string[] = [
  'channels/channel.ts',
  'models/model.ts',
  'tools/tool.ts',
  'tools/holding.ts',
  'tools/approval.ts',
  'tools/sandbox.ts',
  'tools/egress.ts',
  'store/store.ts',
];

/** Folders whose subfolders are alternatives of each other: two channels, two families of tools, two drivers. */
export const siblingFolders: readonly string[] = ['channels', 'tools', 'store'];

/** Built-in modules that only one file may load. */
export const guardedBuiltins: Readonly<Record<string, string>> = {
  'node:sqlite': 'src/store/sqlite/open-database.ts',
};

/** What src/ may read outside itself. */
export const outsideFiles: Readonly<Record<string, string>> = {
  'package.json': 'src/lib/version.ts',
};

/** Packages that are used by a command in package.json's scripts rather than imported. */
export const packagesByCommand: Readonly<Record<string, string>> = {
  typescript: 'tsc',
  oxfmt: 'oxfmt',
  oxlint: 'oxlint',
  'oxlint-tsgolint': 'oxlint --type-aware',
};

/** Tests, and what exists for them: fakes, set-ups and the suites that every implementation of a contract must pass. */
export function isForTests(file: string): boolean {
  return /(^|\/)((fake|test)-[^/]*|[^/]*-suite|[^/]*\.test)\.tsx?$/.test(file) || file.startsWith('test/');
}
