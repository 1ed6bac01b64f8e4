import assert from 'node:assert/strict';
import { test } from 'node:test';
import { efforts } from '../../../protocol/usage.ts';
import { testRuntime } from '../test-runtime.ts';
import { effortWord } from './effort-words.ts';

test('every effort becomes the nearest word that the model takes', () => {
  const words = (...quirks: readonly string[]) =>
    efforts.map((effort) => effortWord(testRuntime({ quirks }), effort)).join(' ');
  assert.equal(words(), 'low low low medium high high');
  assert.equal(words('effort-minimal'), 'minimal minimal low medium high high');
  assert.equal(words('effort-none'), 'none low low medium high high');
  assert.equal(words('effort-none', 'effort-minimal', 'effort-xhigh'), 'none minimal low medium high xhigh');
});
