import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { createBubblewrapSandbox } from './bubblewrap-sandbox.ts';
import { countsProcesses, processesMax } from './limits.ts';
import { createNamespacesSandbox } from './namespaces-sandbox.ts';
import { runBriefly } from './run-briefly.ts';
import { sandboxFindings } from './sandbox-findings.ts';
import { isBubblewrapMissing, testFolder } from './test-sandboxes.ts';

const skip = isBubblewrapMissing();

for (const [name, create] of [
  ['bubblewrap', createBubblewrapSandbox],
  ['namespaces', createNamespacesSandbox],
] as const) {
  test(
    `${name}: commands are the first to go when memory runs out, and can start only so many processes`,
    { skip },
    async () => {
      await using folder = await testFolder();
      const work = join(folder.path, 'work');
      await mkdir(work);
      const deps = { ...folder.deps, isRoot: false };
      const command = await create(deps).wrap({
        argv: ['/bin/sh', '-c', 'cat /proc/self/oom_score_adj; grep "Max processes" /proc/self/limits'],
        cwd: work,
        env: { PATH: '/usr/bin:/bin' },
        writable: [work],
        readable: [],
        hidden: [],
        network: 'off',
      });
      const { stdout } = await runBriefly(command, 10_000);
      const [first, limit = ''] = stdout.trim().split('\n');
      assert.equal(first, '1000');
      if (countsProcesses(deps)) assert.deepEqual(limit.match(/\d+/g), [String(processesMax), String(processesMax)]);
    },
  );
}

test('that root is not counted is said', () => {
  const sandbox = createBubblewrapSandbox({ stateFolder: '/nowhere', nodePath: '/nowhere' });
  const { lines } = sandboxFindings({ kind: 'chosen', sandbox, proofs: [] }, true);
  assert.match(lines.at(-1) ?? '', /not limited for root/);
  assert.equal(countsProcesses({ isRoot: true }), false);
});
