import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  readAgentInputs,
  rebuildKeys,
  turnKeys,
  type AgentInputs,
  type RebuildInputs,
  type TurnInputs,
} from './agent-inputs.ts';

const live = { registryGeneration: () => 1, toolsets: ['core'] };
const read = (config: unknown) => readAgentInputs(config, live);

test('C13 model.context_length is read under a flat dotted key', () => {
  assert.equal(read({ model: { context_length: 32_000 } })['model.context_length'], 32_000);
});

test('C14 of compression four settings are read, and unknown siblings do not count', () => {
  const compression = { enabled: false, threshold: 0.4, target_ratio: 0.3, protect_last_n: 7 };
  const inputs = read({ compression });
  assert.deepEqual(
    Object.fromEntries(Object.entries(inputs).filter(([key]) => key.startsWith('compression.'))),
    Object.fromEntries(Object.entries(compression).map(([key, value]) => [`compression.${key}`, value])),
  );
  assert.deepEqual(read({ compression: { ...compression, colour: 'blue' }, weather: 'fine' }), inputs);
});

test('C15 a missing setting still yields its key, with null', () => {
  const inputs = read({ model: { name: 'm' }, fallback: [{ provider: 'groq' }] });
  assert.equal(inputs['model.name'], 'm');
  assert.equal(inputs['model.context_length'], null);
  assert.equal(inputs['compression.threshold'], null);
  assert.deepEqual(inputs.fallback, [
    {
      provider: 'groq',
      name: null,
      base_url: null,
      api_mode: null,
      api_key: null,
      context_length: null,
      max_output_tokens: null,
      stall_timeout_s: null,
      price: null,
    },
  ]);
  assert.deepEqual(Object.keys(inputs).sort(), [...rebuildKeys, ...turnKeys].sort());
});

test('C16 a section of the wrong type counts as missing, and nothing throws', () => {
  const nothing = read({});
  for (const wrong of ['text', 7, true, null, [], [{ name: 'm' }], () => 'm']) {
    assert.deepEqual(
      read({ model: wrong, compression: wrong, agent: wrong, auxiliary: wrong, budget: wrong }),
      nothing,
    );
  }
  for (const wrong of [{}, ['x'], 'x', Number.NaN])
    assert.deepEqual(read({ agent: { max_iterations: wrong } }), nothing);
  assert.deepEqual(read({ gateway: { busy_mode: 'wild' }, fallback: 'text' }), nothing);
  assert.deepEqual(read({ fallback: ['text', [], null] }).fallback, []);
});

test('C17 a null configuration is legal', () => {
  assert.deepEqual(read(null), read({}));
  assert.deepEqual(read(undefined), read({}));
});

test('C18 the registry generation is sampled at the call', () => {
  let generation = 3;
  const sampled = { ...live, registryGeneration: () => generation };
  const before = readAgentInputs(null, sampled);
  generation = 4;
  const after = readAgentInputs(null, sampled);
  assert.deepEqual([before.registry_generation, after.registry_generation], [3, 4]);
});

test('nothing that a configuration can hold makes reading throw or lose a key', () => {
  const sections = ['model', 'fallback', 'auxiliary', 'compression', 'agent', 'gateway', 'budget', 'terminal'];
  const inner = ['name', 'api_key', 'price', 'compression', 'threshold', 'max_iterations', '__proto__', 'constructor'];
  const map = (keys: string[], value: fc.Arbitrary<unknown>) =>
    fc.dictionary(fc.oneof(fc.constantFrom(...keys), fc.string()), value);
  const configs = fc.oneof(fc.anything(), map(sections, fc.oneof(fc.anything(), map(inner, fc.anything()))));
  const keys = Object.keys(read(null));
  fc.assert(fc.property(configs, (config) => assert.deepEqual(Object.keys(read(config)), keys)));
});

test('what a map merely inherits is not configured', () => {
  const inherits = Object.create({ model: { name: 'inherited' } }) as unknown;
  assert.equal(read(inherits)['model.name'], null);
});

test('one key is a list of one, and one fallback is a chain of one', () => {
  const inputs = read({ model: { api_key: 'k' }, fallback: { name: 'spare', api_key: ['a', 'b'] } });
  assert.deepEqual(inputs['model.api_key'], ['k']);
  assert.deepEqual(
    inputs.fallback?.map(({ name, api_key }) => ({ name, api_key })),
    [{ name: 'spare', api_key: ['a', 'b'] }],
  );
});

test('toolsets are a set, and extra is null where there is none', () => {
  const inputs = readAgentInputs(null, { ...live, toolsets: ['web', 'core', 'web'], extra: {} });
  assert.deepEqual([inputs.toolsets, inputs.extra], [['core', 'web'], null]);
});

test('each field is either built in or looked at turn by turn, and typed so', () => {
  const inputs = read(null);
  // These do not compile if a field is not in the half it is declared for.
  const built: RebuildInputs = inputs;
  const turn: TurnInputs = inputs;
  const name: string | null = built['model.name'];
  const effort: AgentInputs['agent.reasoning_effort'] = turn['agent.reasoning_effort'];
  // @ts-expect-error what is looked at turn by turn can't be built in
  const misplaced = built['agent.reasoning_effort'] as unknown;
  assert.deepEqual([name, effort, misplaced], [null, null, null]);
  assert.deepEqual([...turnKeys].sort(), [
    'agent.api_max_retries',
    'agent.max_iterations',
    'agent.reasoning_effort',
    'agent.trouble_deadline_s',
    'budget.day_usd',
    'budget.session_usd',
    'gateway.busy_mode',
  ]);
});
