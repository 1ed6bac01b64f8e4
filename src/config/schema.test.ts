import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as z from 'zod/mini';
import { defaultConfig } from './default-config.ts';
import { jsonSchema } from './json-schema.ts';
import { formatPath, keyTree, nodeAt, type KeyNode, type KeyPath } from './key-tree.ts';
import { notYet } from './not-yet.ts';
import { configSchema } from './schema.ts';

function everyKey(node: KeyNode, path: KeyPath = []): { path: KeyPath; node: KeyNode }[] {
  const { shape } = node;
  const here = path.length === 0 ? [] : [{ path, node }];
  switch (shape.kind) {
    case 'section':
      return [...here, ...[...shape.keys].flatMap(([name, child]) => everyKey(child, [...path, name]))];
    case 'named':
      return [...here, ...everyKey(shape.value, [...path, '*']).slice(1)];
    case 'list':
      return [...here, ...everyKey(shape.item, [...path, 0]).slice(1)];
    default:
      return here;
  }
}

test('every key is explained in one short sentence', () => {
  for (const { path, node } of everyKey(keyTree())) {
    assert.match(node.description, /^[A-Z`].{3,140}\.$/, formatPath(path));
  }
});

test('every key has a default, or says what happens without', () => {
  for (const { path, node } of everyKey(keyTree())) {
    if (node.shape.kind === 'section') continue;
    assert.ok(node.default !== undefined, formatPath(path));
    if (node.default === null && path.at(-1) !== 'model') assert.ok(node.unset !== undefined, formatPath(path));
  }
});

test('the keys that hold secrets are marked', () => {
  const secret = everyKey(keyTree()).filter(({ node }) => node.secret === true);
  assert.deepEqual(
    secret.map(({ path }) => formatPath(path)),
    [
      'model.api_key',
      'auxiliary.compression.api_key',
      'auxiliary.title.api_key',
      'auxiliary.approval.api_key',
      'auxiliary.vision.api_key',
      'channels.telegram.token',
      'channels.telegram.webhook_token',
      'channels.discord.token',
      'channels.slack.bot_token',
      'channels.slack.app_token',
      'channels.api.key',
      'web.api_key',
      'mcp_servers.*.env',
      'mcp_servers.*.headers',
      'webhooks.*.secret',
    ],
  );
  assert.equal(nodeAt(keyTree(), ['fallback', 0, 'api_key', 1])?.secret, true);
});

test('the defaults that are loaded at start are those of the schema', () => {
  assert.deepEqual(defaultConfig, z.parse(configSchema, {}));
});

test('every row of what is not there yet is about a key that exists', () => {
  for (const { key } of notYet) assert.notEqual(nodeAt(keyTree(), key.split('.')), null, key);
});

test('the JSON Schema is for editors: notes of our own are gone, references and empty sections are allowed', () => {
  const text = JSON.stringify(jsonSchema());
  assert.doesNotMatch(text, /"(?:expects|unset)":|"secret":(?:true|false)/);
  const { gateway, model, mcp_servers } = jsonSchema().properties ?? {};
  const reference = { type: 'string', pattern: '^\\$\\{[A-Za-z_][A-Za-z0-9_]*\\}$' };
  assert.deepEqual(gateway?.properties?.['port'], {
    description: 'Port to listen on; 0: any free one.',
    default: 8477,
    anyOf: [{ type: 'integer', minimum: 0, maximum: 65_535 }, reference],
  });
  assert.deepEqual(model?.properties?.['api_mode'], {
    description: 'The dialect that the API speaks.',
    default: null,
    anyOf: [
      { type: 'string', enum: ['chat_completions', 'anthropic_messages', 'responses'] },
      reference,
      { type: 'null' },
    ],
  });
  assert.equal(model?.properties?.['api_key']?.['writeOnly'], true);
  assert.deepEqual(
    [gateway?.type, gateway?.additionalProperties, mcp_servers?.propertyNames],
    [['object', 'null'], false, { pattern: '^[A-Za-z0-9_-]{1,64}$' }],
  );
});

test('the JSON Schema knows every key and refuses all others', () => {
  const walk = (schema: ReturnType<typeof jsonSchema>, node: KeyNode) => {
    if (node.shape.kind !== 'section') return;
    assert.equal(schema.additionalProperties, false);
    assert.deepEqual(Object.keys(schema.properties ?? {}), [...node.shape.keys.keys()]);
    for (const [name, child] of node.shape.keys) {
      const inner = schema.properties?.[name] ?? {};
      walk(inner.anyOf?.find((option) => option.properties !== undefined) ?? inner, child);
    }
  };
  walk(jsonSchema(), keyTree());
});
