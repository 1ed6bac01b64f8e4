import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createRedactor } from './redact.ts';

const redactorOf = (...secrets: string[]) => {
  const redactor = createRedactor();
  for (const secret of secrets) redactor.add(secret);
  return redactor;
};

describe('redactor', () => {
  test('blanks a secret out wherever and however often it stands', () => {
    const redactor = redactorOf('sk-12345678');
    assert.equal(redactor.redact('sk-12345678 and xsk-12345678x'), '[redacted] and x[redacted]x');
    assert.equal(redactor.redact('nothing here'), 'nothing here');
  });

  test('knows a secret as it is spelled inside JSON and in a URL', () => {
    const secret = 'pa"ss wörd\\\n';
    const redactor = redactorOf(secret);
    assert.equal(redactor.redact(JSON.stringify({ key: secret })), '{"key":"[redacted]"}');
    assert.equal(redactor.redact(`https://x/?key=${encodeURIComponent(secret)}&b`), 'https://x/?key=[redacted]&b');
  });

  test('blanks a secret that contains another one as a whole', () => {
    const redactor = redactorOf('12345678', 'key-12345678-long');
    assert.equal(redactor.redact('key-12345678-long'), '[redacted]');
  });

  test('leaves short values alone, they would blank out ordinary words', () => {
    assert.equal(redactorOf('secret7').redact('secret7 is a word'), 'secret7 is a word');
    assert.equal(redactorOf('').redact('any'), 'any');
  });

  test('takes secrets with signs that mean something elsewhere', () => {
    assert.equal(redactorOf('$&.*+?()[]').redact('a $&.*+?()[] b'), 'a [redacted] b');
  });

  test('takes a secret that is not well-formed text', () => {
    assert.equal(redactorOf('secret-\ud800').redact('a secret-\ud800 b'), 'a [redacted] b');
  });

  test('a secret added later counts from then on, and adding twice is harmless', () => {
    const redactor = redactorOf('first-secret');
    assert.equal(redactor.redact('second-secret'), 'second-secret');
    redactor.add('second-secret');
    redactor.add('second-secret');
    assert.equal(redactor.redact('first-secret second-secret'), '[redacted] [redacted]');
  });
});
