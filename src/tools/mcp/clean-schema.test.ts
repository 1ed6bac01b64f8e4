import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkArguments } from './check-arguments.ts';
import { anyObject, cleanSchema } from './clean-schema.ts';

test('a schema keeps what a model can use, with references put in place and hidden characters taken out', () => {
  const schema = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Arguments',
    type: 'object',
    $defs: { Point: { type: 'object', properties: { x: { type: 'number', examples: [1] } }, 'x-secret': 1 } },
    properties: {
      at: { $ref: '#/$defs/Point' },
      nowhere: { $ref: '#/$defs/Missing' },
      elsewhere: { $ref: 'https://evil.example/schema' },
      description: { type: 'string', description: 'A word\u{e0041}\u202e.', pattern: '(a+)+$' },
    },
    required: ['at'],
    oneOf: [{ required: ['at'] }],
    additionalProperties: false,
  };
  assert.deepEqual(cleanSchema(schema), {
    type: 'object',
    properties: {
      at: { type: 'object', properties: { x: { type: 'number' } } },
      nowhere: {},
      elsewhere: {},
      description: { type: 'string', description: 'A word.' },
    },
    required: ['at'],
    additionalProperties: false,
  });
});

test('a schema that refers to itself, is too deep or too large ends all the same', () => {
  const ring = { type: 'object', properties: { next: { $ref: '#' }, self: { $ref: '#/properties/self' } } };
  assert.ok(JSON.stringify(cleanSchema(ring)).length < 8_192);
  const wordy = Object.fromEntries(
    Array.from({ length: 60 }, (_, index) => [`key${index}`, { type: 'string', description: 'word '.repeat(60) }]),
  );
  const shape = cleanSchema({ type: 'object', properties: wordy });
  assert.deepEqual(Object.values(shape['properties'] as object)[59], { type: 'string' });
  const wide = Object.fromEntries(Array.from({ length: 900 }, (_, index) => [`k${'e'.repeat(60)}${index}`, {}]));
  assert.deepEqual(cleanSchema({ type: 'object', properties: wide }), anyObject);
  assert.deepEqual(cleanSchema({ type: 'array' }), anyObject);
});

test('references that stand for billions of parts cost next to nothing', () => {
  const step = (next: string) => ({ anyOf: Array.from({ length: 200 }, () => ({ $ref: `#/$defs/${next}` })) });
  const $defs = { a: step('b'), b: step('c'), c: step('d'), d: step('e'), e: { type: 'string' } };
  const sly = { type: 'object', properties: { x: { $ref: '#/$defs/a' } }, $defs };
  assert.deepEqual(cleanSchema(sly), { type: 'object', properties: {} });
});

test('arguments are looked over at their top; what is deeper is left to the server', () => {
  const schema = {
    type: 'object',
    properties: { name: { type: 'string' }, count: { type: ['integer', 'null'] }, deep: { type: 'object' }, any: {} },
    required: ['name'],
    additionalProperties: false,
  };
  const good = { name: 'x', count: null, deep: { whatever: [] }, any: 1 };
  assert.deepEqual(checkArguments(schema, good), { ok: true, value: good });
  assert.deepEqual(checkArguments(schema, { count: 1.5, deep: [], nmae: 'x' }), {
    ok: false,
    problem: '`name` is missing; `count` must be a whole number or null; `deep` must be an object; unknown key `nmae`.',
  });
  assert.deepEqual(checkArguments(schema, []), { ok: false, problem: 'they must be a JSON object.' });
  assert.deepEqual(checkArguments(anyObject, { free: 1 }), { ok: true, value: { free: 1 } });
});
