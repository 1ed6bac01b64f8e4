import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../../lib/clock.ts';
import { ServerProcess } from './server-process.ts';

const heaps = [
  { text: 'x'.repeat(1_000_000), times: 20 },
  { text: '{}', times: 20_000 },
];
for (const { text, times } of heaps) {
  test(`a program that reads none of ${times} messages is ended before it has a heap of them`, async (t) => {
    const program = new ServerProcess(
      { clock: systemClock, decode: JSON.parse, encode: () => text, onWords: () => {} },
      { argv: ['/bin/sh', '-c', 'exec sleep 60'], env: {} },
    );
    t.after(() => program.close());
    await program.start();
    const closed = new Promise<void>((resolve) => void Object.assign(program, { onclose: resolve }));
    const told = Array.from({ length: times }, () => program.send({ jsonrpc: '2.0', method: 'x' }));
    await closed;
    assert.equal(program.ending, 'it does not read what it is told');
    const outcomes = await Promise.allSettled(told);
    assert.equal(outcomes.at(-1)?.status, 'rejected');
  });
}
