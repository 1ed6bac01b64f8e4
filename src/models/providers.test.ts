import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { findModel } from './catalogue.ts';
import { chatCompletionsQuirks } from './protocols/chat-completions/quirks.ts';
import { isProvider, keyInEnvironment, providerRow, providerRows, type ProviderRow } from './providers.ts';

const rows: readonly (readonly [string, ProviderRow])[] = Object.entries(providerRows);

describe('the rows of providers', () => {
  for (const [name, row] of rows) {
    test(`${name} has an address that a path can be put after, and says where keys come from`, () => {
      if (name !== 'custom') assert.equal(new URL(row.baseUrl).href.replace(/\/$/, ''), row.baseUrl);
      assert.equal(row.needsKey, row.keyAddress !== null);
      assert.equal(row.needsKey, row.usualModel !== null);
      assert.match(row.keyVariables.join(' '), /^[A-Z_]+(?: [A-Z_]+)*$/);
      for (const quirk of row.quirks) assert.ok(chatCompletionsQuirks.includes(quirk), quirk);
    });
  }

  test('no variable holds the keys of two providers', () => {
    const variables = rows.flatMap(([, { keyVariables }]) => keyVariables);
    assert.deepEqual([...new Set(variables)], variables);
  });

  test('of every usual model it is known how long its prompts may be', () => {
    for (const [name, { usualModel }] of rows) {
      if (usualModel !== null) assert.ok(findModel(name, usualModel)?.contextLength, `${name} ${usualModel}`);
    }
  });

  test('local servers are reached without leaving the machine', () => {
    for (const [, { reach, baseUrl }] of rows) {
      assert.equal(reach === 'local', baseUrl.startsWith('http://127.0.0.1:'), baseUrl);
    }
  });
});

test('a provider without a row is spoken to like custom, under its own name', () => {
  assert.deepEqual(providerRow('somebody'), { ...providerRows.custom, label: 'somebody' });
  assert.deepEqual([isProvider('openai'), isProvider('toString'), isProvider('offline')], [true, false, false]);
});

test('the first of the variables that says something counts', () => {
  const key = (environment: Record<string, string | undefined>) => keyInEnvironment(providerRows.google, environment);
  assert.equal(key({ GOOGLE_API_KEY: 'b', GEMINI_API_KEY: 'a' }), 'a');
  assert.equal(key({ GOOGLE_API_KEY: ' b\n', GEMINI_API_KEY: ' ' }), 'b');
  assert.equal(key({ GEMINI_API_KEY: undefined }), null);
});
