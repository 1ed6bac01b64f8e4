/**
 * Holds the configuration's schema against what agents are made of: a key that an agent could be built from and that is
 * declared nowhere would be used without rebuilding one.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agentSignature } from '../src/agent/agent-signature.ts';
import { readAgentInputs, type AgentInputs } from '../src/agent/agent-inputs.ts';
import { defaultConfig } from '../src/config/default-config.ts';
import { formatPath, keyTree, valueAt, type KeyNode, type KeyPath } from '../src/config/key-tree.ts';
import { configSchema } from '../src/config/schema.ts';

const sections = ['model', 'fallback', 'auxiliary', 'compression', 'agent', 'budget', 'terminal', 'toolsets'];

/** Keys of these sections that no agent is built from, and why. */
const notAnInput: Readonly<Record<string, string>> = {
  toolsets: 'a channel may have its own, so they are given with the live inputs',
  'fallback[0].model': 'becomes `name` when the configuration is resolved',
  'agent.inactivity_timeout_s': 'the watchdog looks at turns from outside',
  'agent.inactivity_warning_s': 'the watchdog looks at turns from outside',
  'terminal.idle_hours': 'what lies unused is looked at from outside',
};

interface Sample {
  readonly path: KeyPath;
  /** Values that the schema takes there. */
  readonly values: readonly unknown[];
}

/** Every key that holds a value of its own, lists and alternatives looked through. */
function samplesBelow(node: KeyNode, path: KeyPath): Sample[] {
  const { shape } = node;
  switch (shape.kind) {
    case 'section':
      return [...shape.keys].flatMap(([name, child]) => samplesBelow(child, [...path, name]));
    case 'list':
      return shape.item.shape.kind === 'section'
        ? samplesBelow(shape.item, [...path, 0])
        : samplesBelow(shape.item, path).map((sample) => ({ path, values: sample.values.map((value) => [value]) }));
    case 'named':
      return [{ path, values: [{ any: 'thing' }] }];
    case 'either':
      return shape.options.slice(-1).flatMap((option) => samplesBelow(option, path));
    case 'choice':
      return [{ path, values: shape.values }];
    case 'number':
      return [{ path, values: [shape.min ?? 1, shape.max ?? 2] }];
    case 'boolean':
      return [{ path, values: [true, false] }];
    case 'text':
      return [{ path, values: ['https://text.test'] }];
  }
}

const samples = sections.flatMap((name) => {
  const node = keyTree().shape;
  const section = node.kind === 'section' ? node.keys.get(name) : undefined;
  assert.ok(section !== undefined, `${name} is a section of the configuration`);
  return samplesBelow(section, [name]);
});

/** A configuration in which only this is set. */
function withOnly(path: KeyPath, value: unknown): unknown {
  return path.reduceRight<unknown>((inner, step) => (typeof step === 'number' ? [inner] : { [step]: inner }), value);
}

function read(config: unknown): AgentInputs {
  return readAgentInputs(config, { registryGeneration: () => 1, toolsets: ['core'] });
}

const isListed = ({ path }: Sample) => Object.hasOwn(notAnInput, formatPath(path));

test('every key that an agent may be built from is declared as an input of one, with all the values it may have', () => {
  for (const { path, values } of samples.filter((sample) => !isListed(sample))) {
    const bare = read(withOnly(path, null));
    const seen = new Set(
      [bare, ...values.map((value) => read(withOnly(path, value)))].map((inputs) => JSON.stringify(inputs)),
    );
    assert.equal(seen.size, values.length + 1, `${formatPath(path)} is declared in agent-inputs.ts or listed here`);
  }
});

test('no key is listed as none that is not there, or is one all the same', () => {
  const listed = samples.filter(isListed);
  assert.deepEqual(listed.map(({ path }) => formatPath(path)).sort(), Object.keys(notAnInput).sort());
  for (const { path, values } of listed) {
    for (const value of values) assert.deepEqual(read(withOnly(path, value)), read(withOnly(path, null)));
  }
});

test('every declared key of the configuration is one that it has', () => {
  const live = new Set(['toolsets', 'registry_generation', 'extra']);
  for (const key of Object.keys(read(null)).filter((key) => !live.has(key))) {
    assert.notEqual(valueAt(defaultConfig, key.split('.')), undefined, key);
  }
});

test('a resolved configuration is read as it stands', () => {
  const config = configSchema.parse({
    model: { provider: 'openai', name: 'large', api_key: 'sk-one' },
    fallback: { provider: 'groq', model: 'spare' },
    auxiliary: { title: { name: 'small' } },
  });
  const inputs = read(config);
  assert.deepEqual(inputs['model.api_key'], ['sk-one']);
  assert.deepEqual(inputs.fallback, config.fallback);
  assert.deepEqual(inputs['auxiliary.title'], config.auxiliary.title);
  assert.notEqual(agentSignature(inputs), agentSignature(read(defaultConfig)));
});
