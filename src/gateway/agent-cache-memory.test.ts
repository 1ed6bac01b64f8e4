import assert from 'node:assert/strict';
import test from 'node:test';
import { isMemoryShort, readMemoryFigures, type MemoryFigures } from './agent-cache-memory.ts';

const plenty: MemoryFigures = { heapUsedBytes: 80, heapLimitBytes: 100, rssBytes: 800, machineBytes: 1_000 };

test('C32 memory is short when the heap or the whole process is near its limit, and not before', () => {
  assert.deepEqual([plenty, { ...plenty, heapUsedBytes: 81 }, { ...plenty, rssBytes: 801 }].map(isMemoryShort), [
    false,
    true,
    true,
  ]);
});

test('the figures are those of this process, and its limits are real', () => {
  const ballast = Array.from({ length: 500_000 }, (_, index) => ({ index }));
  const figures = readMemoryFigures();
  // Whatever else is collected meanwhile, this is still there.
  assert.ok(figures.heapUsedBytes > ballast.length * 12);
  assert.ok(figures.rssBytes > figures.heapUsedBytes && figures.rssBytes < figures.machineBytes);
  assert.ok(Number.isFinite(figures.machineBytes) && figures.heapLimitBytes > figures.heapUsedBytes);
});
