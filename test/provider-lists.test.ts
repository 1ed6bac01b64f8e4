/** What the configuration and the models each know of providers: neither may import the other, so it is kept twice. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keyVariables } from '../src/config/key-variables.ts';
import { providers } from '../src/config/schema.ts';
import { providerRows, type ProviderRow } from '../src/models/providers.ts';

test('every provider that can be configured has a row, and the other way round', () => {
  assert.deepEqual(providers.toSorted(), ['offline', ...Object.keys(providerRows)].toSorted());
});

test('every variable that a key is read from is known to hold a secret', () => {
  const rows: readonly ProviderRow[] = Object.values(providerRows);
  assert.deepEqual(keyVariables.toSorted(), rows.flatMap((row) => row.keyVariables).toSorted());
});
