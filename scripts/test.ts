/**
 * Runs all tests: prepares the machine and builds first, then the unit tests in one process, then the whole-system
 * tests, each file in a process of its own. Both parts always run; the last lines are the totals of both, in the form
 * node:test prints. Given file names, it runs those only.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import type { TestCounts } from './count-reporter.ts';
import { prepareMachine } from './prepare-machine.ts';

const root = join(import.meta.dirname, '..');

/**
 * A test that takes longer hangs, on a busy machine too. With processes of their own it is the limit of a whole file as
 * well.
 */
const testTimeoutMs = 600_000;

const parts = [
  {
    name: 'unit tests',
    patterns: ['src/**/*.test.ts', 'web/src/**/*.test.ts', 'scripts/**/*.test.ts', 'bench/**/*.test.ts'],
    flags: ['--test-isolation=none'],
  },
  { name: 'whole-system tests', patterns: ['test/**/*.test.ts'], flags: ['--test-concurrency=2'] },
];

async function run(args: readonly string[]): Promise<boolean> {
  const child = spawn(process.execPath, args, { cwd: root, stdio: 'inherit' });
  const [code] = (await once(child, 'close')) as [number | null];
  return code === 0;
}

/** The counts of one part, or null if it ended without saying them. */
async function runTests(flags: readonly string[], files: readonly string[], countsPath: string) {
  const passed = await run([
    '--test',
    ...flags,
    `--test-timeout=${testTimeoutMs}`,
    '--test-reporter=spec',
    '--test-reporter-destination=stdout',
    `--test-reporter=${join(import.meta.dirname, 'count-reporter.ts')}`,
    `--test-reporter-destination=${countsPath}`,
    ...files,
  ]);
  const text = readFileSync(countsPath, { encoding: 'utf8', flag: 'a+' });
  return { passed, counts: text === '' ? null : (JSON.parse(text) as TestCounts) };
}

async function main(chosen: readonly string[]): Promise<boolean> {
  prepareMachine();
  if (!(await run([join(import.meta.dirname, 'build.ts')]))) return false;
  const wanted = new Set(chosen.map((file) => relative(root, resolve(file))));
  const totals: Record<string, number> = {};
  let passed = true;
  const folder = mkdtempSync(join(tmpdir(), 'talaria-test-'));
  try {
    for (const [index, part] of parts.entries()) {
      const found = globSync(part.patterns, { cwd: root }).sort();
      const files = wanted.size === 0 ? found : found.filter((file) => wanted.delete(file));
      if (files.length === 0) continue;
      console.log(`\n${part.name}: ${files.length} files\n`);
      const result = await runTests(part.flags, files, join(folder, String(index)));
      passed &&= result.passed && result.counts !== null;
      for (const [key, count] of Object.entries(result.counts ?? {})) totals[key] = (totals[key] ?? 0) + count;
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  for (const file of wanted) console.error(`${file} is not a test file of this project`);
  console.log('\nall tests');
  for (const [key, count] of Object.entries(totals)) console.log(`ℹ ${key} ${count}`);
  return passed && wanted.size === 0 && (totals['tests'] ?? 0) > 0;
}

process.exitCode = (await main(process.argv.slice(2))) ? 0 : 1;
