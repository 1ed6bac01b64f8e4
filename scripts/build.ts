/**
 * Builds dist/: the bundles that bin/talaria starts and the browser's page. Nothing is written before everything is
 * built, entries are replaced whole and after the chunks they need, and what an earlier build left is removed last:
 * a failed or interrupted build leaves a dist/ that still starts.
 */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build, type BuildOptions, type Plugin } from 'esbuild';
import { writeFileAtomically } from '../src/lib/atomic-file.ts';

const root = join(import.meta.dirname, '..');
const dist = join(root, 'dist');

/** Output name to source. The threads are entries of their own, because a worker starts from a file. */
const programEntries = {
  talaria: 'src/main.ts',
  'store-writer': 'src/store/sqlite/writer-thread.ts',
  'store-background': 'src/store/sqlite/background-thread.ts',
  'web-extract': 'src/tools/web/extract-thread.ts',
};
const pageEntry = 'web/src/main.tsx';
const pageFiles = ['index.html', 'icon.svg'];

const warmUpTimeoutMs = 20_000;

interface OutputFile {
  readonly path: string;
  readonly contents: Uint8Array;
}

const common = {
  absWorkingDir: root,
  bundle: true,
  write: false,
  format: 'esm',
  minifyWhitespace: true,
  minifySyntax: true,
  legalComments: 'none',
  logLevel: 'warning',
} satisfies BuildOptions;

async function buildProgram(): Promise<OutputFile[]> {
  const { outputFiles } = await build({
    ...common,
    entryPoints: programEntries,
    outdir: dist,
    splitting: true,
    chunkNames: 'chunk-[hash]',
    platform: 'node',
    target: 'node26',
    // A crash shows the source line it happened on: short lines keep that readable.
    lineLimit: 160,
    // The build of `yaml` for Node is CommonJS and needs `require`; the other one is the same code as ES modules.
    alias: { yaml: join(dirname(fileURLToPath(import.meta.resolve('yaml'))), '../browser/index.js') },
    // Loaded only when they are used, from where they are: they ask for Node's modules by `require`, or for files of theirs.
    external: [
      'grammy',
      'linkedom',
      '@mozilla/readability',
      'unpdf',
      'playwright-core',
      '@modelcontextprotocol/client',
      '@vscode/ripgrep',
    ],
    plugins: [onlyTheVersionOfTheManifest],
  });
  return outputFiles;
}

/** Importing package.json for its version would otherwise put all of it into the bundle. */
const onlyTheVersionOfTheManifest: Plugin = {
  name: 'only-the-version-of-the-manifest',
  setup(builder) {
    builder.onLoad({ filter: /package\.json$/ }, async ({ path }) => {
      if (path !== join(root, 'package.json')) return null;
      const { version } = JSON.parse(await readFile(path, 'utf8')) as { version: string };
      return { contents: JSON.stringify({ version }), loader: 'json' };
    });
  },
};

async function buildPage(): Promise<OutputFile[]> {
  const outdir = join(dist, 'web');
  const { outputFiles } = await build({
    ...common,
    entryPoints: { app: pageEntry },
    outdir,
    minifyIdentifiers: true,
    platform: 'browser',
    target: 'es2022',
    jsx: 'automatic',
    jsxImportSource: 'preact',
  });
  const copies = pageFiles.map(async (name) => ({
    path: join(outdir, name),
    contents: await readFile(join(root, 'web', name)),
  }));
  return [...outputFiles, ...(await Promise.all(copies))];
}

async function writeAll(files: readonly OutputFile[]): Promise<void> {
  await mkdir(join(dist, 'web'), { recursive: true });
  const chunksFirst = files.toSorted((a, b) => Number(isChunk(b.path)) - Number(isChunk(a.path)));
  for (const { path, contents } of chunksFirst) await writeFileAtomically(path, contents);

  const wanted = new Set(files.map(({ path }) => path));
  for (const entry of await readdir(dist, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    // Another build may be about to rename a temporary file.
    const isLeftOver = !wanted.has(path) && !entry.isDirectory() && !entry.name.endsWith('.tmp');
    if (isLeftOver) await rm(path, { force: true });
  }
}

function isChunk(path: string): boolean {
  return path.startsWith(join(dist, 'chunk-'));
}

/** The first start of a user should be as quick as the second: run once what they will run, the longest way first. */
async function warmCompileCache(): Promise<void> {
  const home = await mkdtemp(join(tmpdir(), 'talaria-build-'));
  // No key of the user may be found: a build talks to nobody.
  const env = { PATH: process.env['PATH'] ?? '', TALARIA_HOME: home };
  try {
    await writeFile(join(home, 'config.yaml'), 'model: { provider: offline }\n');
    for (const args of [['-p', 'hello'], ['--version']]) {
      await promisify(execFile)(process.execPath, [join(dist, 'talaria.js'), ...args], {
        env,
        timeout: warmUpTimeoutMs,
      });
    }
  } catch (error) {
    console.error(`build: the first start will be a little slower, because \`talaria\` failed: ${firstLine(error)}`);
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

function firstLine(error: unknown): string {
  return String(error instanceof Error ? error.message : error).split('\n', 1)[0] ?? '';
}

try {
  await writeAll([...(await buildProgram()), ...(await buildPage())]);
} catch (error) {
  // Mistakes in the code have been printed by esbuild, with file and line.
  console.error(`build: failed: ${firstLine(error)}`);
  process.exit(1);
}
await warmCompileCache();
