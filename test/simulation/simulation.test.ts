/**
 * The simulation in CI: many seeds, the same ones each time; and the proof that it would find what it looks for. It runs
 * in processes of its own, because under the test runner every promise costs several times as much.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { brokenParts } from './broken-parts.ts';
import { runSeed } from './run-seed.ts';

const seeds = 2_000;
/** Within so many seeds a broken part must be found. */
const seedsPerBrokenPart = 300;
const timeoutMs = 240_000;

/** What must have happened often enough: a simulation in which nothing happens proves nothing. */
const covered = [
  'calls over budget',
  'clean restarts',
  'crashes',
  'failed writes and reads',
  'files',
  'marked copies',
  'model calls cancelled',
  'model calls failed',
  'model calls lost',
  'model calls of fallback',
  'model calls of titler',
  'parked turns',
  'parked turns, retry',
  'questions',
  'results skipped',
  'results unknown',
  'shortening asked',
  'shortening declined',
  'shortening done',
  'stalls',
  'stops',
  'stops timed',
  'words beside replies',
];

function simulate(...args: string[]): Promise<{ code: unknown; output: string }> {
  const script = join(import.meta.dirname, 'simulate.ts');
  return new Promise((resolve) => {
    execFile(process.execPath, [script, ...args], { timeout: timeoutMs, maxBuffer: 1e9 }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : (error.code ?? error.signal), output: stdout + stderr });
    });
  });
}

void describe('simulation', { concurrency: 2 }, () => {
  void it(`C81-C95 hold in ${seeds} seeds, whatever crashes, fails, stalls, repeats or comes late`, async () => {
    const { code, output } = await simulate('--seed', '1', '--seeds', String(seeds));
    assert.equal(code, 0, output.slice(-20_000));
    const count = (what: string) => Number(new RegExp(`^  ${what}: (\\d+)$`, 'm').exec(output)?.[1] ?? 0);
    assert.deepEqual(
      covered.filter((what) => count(what) < 10),
      [],
      output,
    );
  });

  void it('a seed gives the same run each time', async () => {
    for (let seed = 1; seed <= 20; seed++) {
      const [first, second] = [await runSeed(seed, { isTracing: true }), await runSeed(seed, { isTracing: true })];
      assert.deepEqual(first, second);
    }
  });

  for (const name of Object.keys(brokenParts)) {
    void it(`finds ${name}`, async () => {
      const { code, output } = await simulate('--seed', '1', '--seeds', String(seedsPerBrokenPart), '--broken', name);
      assert.equal(code, 0, output.slice(-2_000));
    });
  }
});
