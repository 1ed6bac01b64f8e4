import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Sandbox } from '../sandbox.ts';
import { createBubblewrapSandbox } from './bubblewrap-sandbox.ts';
import { escapeAttempts, type EscapeAttempt } from './escape-attempts.ts';
import { setEscapeStage } from './escape-stage.ts';
import { createLandlockSandbox } from './landlock-sandbox.ts';
import { createNamespacesSandbox } from './namespaces-sandbox.ts';
import { isProved, proveSandbox } from './prove-sandbox.ts';
import { architectureOf } from './system-calls.ts';
import { isBubblewrapMissing, testFolder } from './test-sandboxes.ts';

const skip = isBubblewrapMissing();
const attempts = escapeAttempts(architectureOf(process.arch) ?? 'x64');
const families = [...new Set(attempts.map(({ family }) => family))];
const attemptsMin = 120;
/** In the second sandbox of the same kind of walls, every so many-th attempt. */
const sampleEvery = 6;

async function tryAll(sandbox: Sandbox, stateFolder: string, tried: readonly EscapeAttempt[]): Promise<string[]> {
  const stage = await setEscapeStage(stateFolder);
  const problems: string[] = [];
  try {
    const groups = families.map((family) => tried.filter((attempt) => attempt.family === family && !attempt.isAlone));
    const alone = tried.filter(({ isAlone }) => isAlone).map((attempt) => [attempt]);
    for (const group of [...groups, ...alone].filter(({ length }) => length > 0)) {
      const found = await stage.run(sandbox, group);
      problems.push(...found.map((problem) => `${group[0]?.family}: ${problem}`));
    }
    return problems;
  } finally {
    await stage.end();
  }
}

test(`bubblewrap holds against all ${attempts.length} escape attempts`, { skip }, async () => {
  assert.ok(attempts.length >= attemptsMin);
  await using folder = await testFolder();
  const sandbox = createBubblewrapSandbox(folder.deps);
  assert.ok(isProved(await proveSandbox(sandbox, folder.deps)), 'nothing is tried in what did not prove itself');
  assert.deepEqual(await tryAll(sandbox, folder.deps.stateFolder, attempts), []);
});

test('namespaces hold against a sample of them', { skip }, async () => {
  await using folder = await testFolder();
  const sandbox = createNamespacesSandbox(folder.deps);
  if (!isProved(await proveSandbox(sandbox, folder.deps))) return;
  const sample = attempts.filter((_, index) => index % sampleEvery === 0);
  assert.deepEqual(await tryAll(sandbox, folder.deps.stateFolder, sample), []);
});

test('Landlock holds against those that it is there for', { skip }, async (context) => {
  await using folder = await testFolder();
  const sandbox = createLandlockSandbox(folder.deps);
  const proof = await proveSandbox(sandbox, folder.deps);
  if (!isProved(proof, ['leaves protected files alone'])) {
    context.skip(proof.missing ?? 'Landlock is too old here');
    return;
  }
  const sample = attempts.filter(
    ({ needsOwnTree, isAlone }, index) => !needsOwnTree && !isAlone && index % sampleEvery === 1,
  );
  assert.deepEqual(await tryAll(sandbox, folder.deps.stateFolder, sample), []);
});

test('an escape would be noticed: in a sandbox with holes the judge sees each kind', { skip }, async () => {
  await using folder = await testFolder();
  const whole = createBubblewrapSandbox(folder.deps);
  const leaky: Sandbox = {
    ...whole,
    wrap: (request) => {
      const root = request.cwd.slice(0, request.cwd.lastIndexOf('/'));
      return whole.wrap({ ...request, writable: [root], readable: [], hidden: [], network: 'open' });
    },
  };
  const telling = new Set([
    'echo $N >"$OUT/written-$N"',
    'cat "$SECRET"',
    'bash -c "echo hit >/dev/tcp/127.0.0.1/$TCP"',
    'bash -c "echo hit >/dev/udp/127.0.0.1/$UDP"',
    'git init -q "$EMPTY"',
  ]);
  const isTelling = ({ command }: EscapeAttempt): boolean =>
    telling.has(command) || /^perl.*(?:ENV.SOCKET|ENV.ABSTRACT)/.test(command);
  const problems = await tryAll(leaky, folder.deps.stateFolder, attempts.filter(isTelling));
  const reached = ['TCP', 'UDP', 'a Unix socket', 'an abstract Unix socket'].map((name) => `${name} was reached`);
  const kinds = ['/out: ', 'a secret was read', '/empty: ', ...reached];
  for (const kind of kinds)
    assert.ok(
      problems.some((problem) => problem.includes(kind)),
      kind,
    );
});
