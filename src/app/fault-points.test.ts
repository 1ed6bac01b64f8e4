import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import test from 'node:test';
import { parseFaultPoint } from './fault-points.ts';

/** A program that admits and commits in a store that prints what it is asked for, and says so when it got that far. */
const program = `
  import { withFaultPoints } from ${JSON.stringify(join(import.meta.dirname, 'fault-points.ts'))};
  import { writeSync } from 'node:fs';
  const print = (text) => writeSync(1, text + '\\n');
  const store = withFaultPoints({
    async admit() { print('admitted'); },
    async commit(lease, writes) { print(writes.map((write) => write.verb).join(' + ')); },
  }, process.argv[1]);
  await store.admit();
  await store.commit({}, [{ verb: 'open-turn' }]);
  await store.commit({}, [{ verb: 'settle-call' }, { verb: 'settle-call' }]);
  await store.commit({}, [{ verb: 'close-turn' }]);
  print('lived');
`;

function runAt(spec: string): { readonly printed: string[]; readonly signal: string | null } {
  const { stdout, signal } = spawnSync(process.execPath, ['--input-type=module', '--eval', program, spec], {
    encoding: 'utf8',
  });
  return { printed: stdout.trimEnd().split('\n'), signal };
}

test('the process dies by SIGKILL before the verb does anything, or after it is done and before anything else', () => {
  assert.deepEqual(runAt('before:open-turn'), { printed: ['admitted'], signal: 'SIGKILL' });
  assert.deepEqual(runAt('after:open-turn'), { printed: ['admitted', 'open-turn'], signal: 'SIGKILL' });
  assert.deepEqual(runAt('during:admit'), { printed: ['admitted'], signal: 'SIGKILL' });
});

test('a verb counts as often as it is used, also within one commit; one that is never reached harms nobody', () => {
  const all = ['admitted', 'open-turn', 'settle-call + settle-call', 'close-turn'];
  assert.deepEqual(runAt('after:settle-call:2'), { printed: all.slice(0, 3), signal: 'SIGKILL' });
  assert.deepEqual(runAt('before:commit:3'), { printed: all.slice(0, 3), signal: 'SIGKILL' });
  assert.deepEqual(runAt('before:settle-call:3'), { printed: [...all, 'lived'], signal: null });
});

test('what is no fault point is refused with the form of one', () => {
  assert.deepEqual(parseFaultPoint('after:settle-call:2'), { when: 'after', verb: 'settle-call', nth: 2 });
  for (const spec of ['', 'admit', 'after:', 'after:admit:0', 'sometime:admit'])
    assert.throws(() => parseFaultPoint(spec), /is not a fault point: write before:VERB/);
});
