import assert from 'node:assert/strict';
import test from 'node:test';
import { errorSamples } from './error-samples.ts';
import { errorTable } from './error-table.ts';
import { classify } from './explain-failure.ts';

for (const sample of errorSamples) {
  const said = sample.body.replaceAll(/\s+/g, ' ').slice(0, 90);
  test(`${sample.from}, ${sample.status ?? 'no status'}, is decided by ${sample.row}: ${said}`, () => {
    assert.equal(classify(sample, 0).rowId, sample.row);
  });
}

test('every row has a sample, and no two rows have the same name', () => {
  const ids = errorTable.map((row) => row.id);
  assert.deepEqual(new Set(errorSamples.map((sample) => sample.row)), new Set(ids));
  assert.equal(new Set(ids).size, ids.length);
});
