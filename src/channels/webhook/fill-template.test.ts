import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fillTemplate } from './fill-template.ts';

const sent = { a: { b: ['zero', { c: true }] }, n: 0, none: null, text: 'x', 'with-dash': 'y', list: [1, 2] };
const fill = (template: string, fields: unknown = sent) => fillTemplate(template, JSON.stringify(fields), fields);

test('fields are found by their path, in lists by their number', () => {
  assert.deepEqual(fill('{{a.b.0}} {{ a.b.1.c }} {{n}} {{none}} {{with-dash}} {{list}} {{a.b.1}}'), {
    text: 'zero true 0 null y [1,2] {"c":true}',
    missing: [],
  });
  assert.equal(fill('All: {{body}}').text, `All: ${JSON.stringify(sent)}`);
});

test('what was not sent is empty, and is named once', () => {
  assert.deepEqual(fill('<{{no}}> <{{a.b.9}}> <{{no}}> <{{text.length}}>'), {
    text: '<> <> <> <>',
    missing: ['no', 'a.b.9', 'text.length'],
  });
  assert.deepEqual(fillTemplate('{{a}}{{body}}', 'no JSON', undefined), { text: 'no JSON', missing: ['a'] });
});

test('what every object and list has was not sent', () => {
  const places = [
    '__proto__',
    'constructor.name',
    'a.__proto__.x',
    'list.length',
    'list.map',
    'toString',
    'a.hasOwnProperty',
  ];
  for (const place of places) assert.deepEqual(fill(`{{${place}}}`), { text: '', missing: [place] });
});

test('nothing in a value is a template, or a pattern of a replacement', () => {
  const nasty = { x: '{{secret}} $& $1 $` {{body}}', secret: 'hidden' };
  assert.equal(fill('[{{x}}]', nasty).text, `[${nasty.x}]`);
  assert.equal(fill('{{{x}}}', { x: '{y}', '{x': 1 }).text, '{{y}}');
});

test('what is no field stays as it is', () => {
  for (const text of ['{{}}', '{{ }}', '{{a b}}', '{a}', '{{a', 'a}}'])
    assert.deepEqual(fill(text), { text, missing: [] });
});

test('values are cut, each and all together, and never in the middle of a character', () => {
  const long = '😀'.repeat(20_000);
  const { text } = fill('{{long}}', { long });
  assert.match(text, /^(?:😀){8000}… \(24000 more characters were cut off\)$/u);
  assert.ok(text.isWellFormed() && fill('{{a}}', { a: `x${long}` }).text.isWellFormed());
  const many = fill('{{long}}'.repeat(1_000), { long });
  assert.ok(many.text.length < 300_000, String(many.text.length));
  assert.ok(fillTemplate('{{body}}', 'x'.repeat(999_999), {}).text.length < 100_100);
});
