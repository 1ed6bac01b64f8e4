import assert from 'node:assert/strict';
import test from 'node:test';
import * as z from 'zod/mini';
import { defineTool } from './define-tool.ts';
import { createToolRegistry } from './registry.ts';
import type { Tool } from './tool.ts';

function tool(name: string): Tool {
  return defineTool({
    name,
    description: `does ${name}`,
    effect: 'read',
    replay: 'safe',
    schema: z.strictObject({}),
    run: async () => ({ kind: 'finished', text: name }),
  });
}

test('definitions stand in the same order whatever order the tools came in', () => {
  const names = (tools: Tool[]) =>
    createToolRegistry(tools)
      .definitions()
      .map((definition) => definition.name);
  assert.deepEqual(names([tool('write'), tool('Read'), tool('a_b')]), ['Read', 'a_b', 'write']);
  assert.deepEqual(names([tool('a_b'), tool('write'), tool('Read')]), ['Read', 'a_b', 'write']);
});

test('a tool is found by its name and nothing else is', () => {
  const read = tool('read');
  const registry = createToolRegistry([read]);
  assert.equal(registry.get('read'), read);
  assert.equal(registry.get('toString'), undefined);
  assert.equal(registry.get('READ'), undefined);
});

test('definitions are the same frozen array every time', () => {
  const registry = createToolRegistry([tool('read')]);
  assert.equal(registry.definitions(), registry.definitions());
  assert.ok(Object.isFrozen(registry.definitions()));
});

test('a registry carries the generation it was built for', () => {
  assert.equal(createToolRegistry([]).generation, 1);
  assert.equal(createToolRegistry([], { generation: 7 }).generation, 7);
});

test('two tools of one name, or a name that providers refuse, are bugs', () => {
  assert.throws(() => createToolRegistry([tool('read'), tool('read')]), /two tools are named read/);
  for (const name of ['', 'a b', 'ä', '1a', 'x'.repeat(65)]) {
    assert.throws(() => createToolRegistry([tool(name)]), /is no name for a tool/);
  }
});
