import assert from 'node:assert/strict';
import test from 'node:test';
import * as z from 'zod/mini';
import { defineTool } from './define-tool.ts';

const tool = defineTool({
  name: 'sample',
  description: 'A sample.',
  effect: 'write',
  replay: 'never',
  schema: z.strictObject({
    command: z.string().check(z.minLength(1), z.describe('What to run.')),
    timeout_s: z.optional(z.number().check(z.gte(1), z.lte(3600))),
    count: z.optional(z.int()),
    action: z.optional(z.literal('add')),
    mode: z.optional(z.enum(['fast', 'slow'])),
    names: z.optional(z.array(z.string())),
  }),
  run: async () => ({ kind: 'finished', text: '' }),
});

test('the JSON schema is small: no dialect, no meaningless bounds, no unknown keys', () => {
  assert.deepEqual(tool.definition, {
    name: 'sample',
    description: 'A sample.',
    parameters: {
      type: 'object',
      properties: {
        command: { type: 'string', description: 'What to run.' },
        timeout_s: { type: 'number' },
        count: { type: 'integer' },
        action: { type: 'string', enum: ['add'] },
        mode: { type: 'string', enum: ['fast', 'slow'] },
        names: { type: 'array', items: { type: 'string' } },
      },
      required: ['command'],
    },
  });
});

test('right arguments are passed on', () => {
  const input = { command: 'ls', timeout_s: 1.5, names: ['a'] };
  assert.deepEqual(tool.parse(input), { ok: true, value: input });
});

const mistakes: readonly [input: unknown, problem: string][] = [
  [{}, '`command` is missing.'],
  [{ command: 5 }, '`command` must be text.'],
  [{ command: null }, '`command` must be text.'],
  [{ command: '' }, '`command` must have at least 1 character.'],
  [{ cmd: 'ls' }, '`command` is missing; unknown key `cmd`, did you mean `command`?'],
  [{ command: 1, cmd: 'ls' }, '`command` must be text; unknown key `cmd`.'],
  [{ comand: 'ls' }, '`command` is missing; unknown key `comand`, did you mean `command`?'],
  [{ command: 'ls', timeout: 3 }, 'unknown key `timeout`, did you mean `timeout_s`?'],
  [{ command: 'ls', xyz: 3, q: 1 }, 'unknown key `xyz`; unknown key `q`.'],
  [{ command: 'ls', timeout_s: 0 }, '`timeout_s` must be at least 1.'],
  [{ command: 'ls', timeout_s: 3601 }, '`timeout_s` must be at most 3600.'],
  [{ command: 'ls', timeout_s: '5' }, '`timeout_s` must be a number.'],
  [{ command: 'ls', count: 1.5 }, '`count` must be a whole number.'],
  [{ command: 'ls', action: 'remove' }, '`action` must be "add".'],
  [{ command: 'ls', mode: 'x' }, '`mode` must be one of "fast", "slow".'],
  [{ command: 'ls', names: ['a', 1] }, '`names.1` must be text.'],
];

for (const [input, problem] of mistakes) {
  test(`${JSON.stringify(input)} is answered with: ${problem}`, () => {
    assert.deepEqual(tool.parse(input), { ok: false, problem });
  });
}

test('what is no object at all is answered with the keys it should have', () => {
  const problem = 'they must be a JSON object with `command`, `timeout_s`, `count`, `action`, `mode`, `names`.';
  for (const input of [null, undefined, 'ls', 5, ['ls'], true])
    assert.deepEqual(tool.parse(input), { ok: false, problem });
});

test('keys with a meaning for JavaScript are just unknown keys', () => {
  const input: unknown = JSON.parse('{ "command": "ls", "__proto__": { "x": 1 }, "constructor": 1 }');
  const parsed = tool.parse(input);
  assert.equal(parsed.ok, false);
});

test('attach and side by side are passed on, and a tool that can be attached to must say how', () => {
  const run = async () => ({ kind: 'finished', text: '' }) as const;
  const attach = async () => ({ kind: 'unknown', text: '' }) as const;
  const spec = { name: 'sample', description: '', effect: 'write', schema: z.strictObject({}), run } as const;
  const both = defineTool({ ...spec, replay: 'attach', attach, sideBySide: () => ['a'] });
  assert.equal(both.attach, attach);
  assert.deepEqual(both.sideBySide?.({}), ['a']);
  const neither = defineTool({ ...spec, replay: 'never' });
  assert.deepEqual(['attach' in neither, 'sideBySide' in neither], [false, false]);
  assert.throws(() => defineTool({ ...spec, replay: 'attach' }), /sample must say how to attach/);
  assert.throws(() => defineTool({ ...spec, replay: 'never', attach }), /sample must say how to attach/);
});

test('of a list the number of its entries is meant', () => {
  const { parse } = defineTool({
    name: 'list',
    description: 'A list.',
    effect: 'read',
    replay: 'safe',
    schema: z.strictObject({ names: z.array(z.string()).check(z.minLength(1), z.maxLength(2)) }),
    run: async () => ({ kind: 'finished', text: '' }),
  });
  assert.deepEqual(parse({ names: [] }), { ok: false, problem: '`names` must have at least 1 entry.' });
  assert.deepEqual(parse({ names: ['a', 'b', 'c'] }), { ok: false, problem: '`names` must have at most 2 entries.' });
});
