import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readAgentInputs, rebuildKeys, turnKeys, type LiveInputs } from './agent-inputs.ts';
import { agentSignature, signedText } from './agent-signature.ts';

const live: LiveInputs = { registryGeneration: () => 1, toolsets: ['core', 'web'] };
const model = { provider: 'anthropic', name: 'large', base_url: 'https://api.test', api_key: ['sk-one'] };
const config = {
  model: { ...model, api_mode: 'anthropic_messages', context_length: 100_000 },
  fallback: [{ provider: 'openai', name: 'spare', api_key: ['sk-two'] }],
  auxiliary: { title: { provider: 'groq', name: 'small', api_key: ['sk-three'] } },
  compression: { enabled: true, threshold: 0.5, target_ratio: 0.2, protect_last_n: 20 },
  agent: { reasoning_effort: 'low', max_iterations: 90 },
};
type Change = Partial<Record<keyof typeof config, unknown>>;
const sign = (change: Change = {}, liveChange: Partial<LiveInputs> = {}) =>
  agentSignature(readAgentInputs({ ...config, ...change }, { ...live, ...liveChange }));
const signModel = (change: object) => sign({ model: { ...config.model, ...change } });
const signCompression = (change: object) => sign({ compression: { ...config.compression, ...change } });

/** Alike for the first hundred characters, as tokens of one issuer are. */
const jwt = (tail: string) =>
  `eyJhbGciOiJSUzI1NiIsInR5cCI6IkpXVCJ9.${'eyJpc3MiOiJodHRwczovL2lzc3Vlci50ZXN0'.repeat(3)}.${tail}`;

test('C1 equal inputs give an equal signature, whichever objects hold them', () => {
  assert.equal(sign(structuredClone(config)), sign());
  // A signature may be compared with one of another process: it must not change from one to the next.
  const bare = agentSignature(readAgentInputs(null, { registryGeneration: () => 0, toolsets: [] }));
  assert.equal(bare, agentSignature(readAgentInputs({}, { registryGeneration: () => 0, toolsets: [] })));
  assert.match(bare, /^[0-9a-f]{64}$/);
});

test('C2 another model gives another signature', () => {
  assert.notEqual(signModel({ name: 'larger' }), sign());
});

test('C3 credentials that begin alike and differ later give different signatures, and can not be read from them', () => {
  const [first, second] = [jwt('first-signature'), jwt('second-signature')];
  assert.notEqual(signModel({ api_key: [first] }), signModel({ api_key: [second] }));
  for (const place of ['fallback', 'auxiliary'] as const) {
    const entry = (key: string) => ({ provider: 'openai', name: 'spare', api_key: [key] });
    const withKey = (key: string) => sign({ [place]: place === 'fallback' ? [entry(key)] : { title: entry(key) } });
    assert.notEqual(withKey(first), withKey(second));
  }
  const text = signedText(readAgentInputs({ ...config, model: { ...model, api_key: ['sk-one', first] } }, live));
  for (const secret of ['sk-one', 'sk-two', 'sk-three', 'eyJ', 'first-signature']) assert.ok(!text.includes(secret));
});

test('C4 another provider, base URL or API mode gives another signature', () => {
  const all = [sign(), signModel({ provider: 'custom' }), signModel({ base_url: 'https://proxy.test' })];
  all.push(signModel({ api_mode: 'responses' }), signModel({ api_mode: null }));
  assert.equal(new Set(all).size, all.length);
});

test('C5 another set of toolsets gives another signature; their order does not matter', () => {
  assert.notEqual(sign({}, { toolsets: ['core'] }), sign());
  assert.equal(sign({}, { toolsets: ['web', 'core'] }), sign());
});

test('C6 reasoning effort and all else that is looked at turn by turn is no input of it', () => {
  const inputs = readAgentInputs(config, live);
  assert.equal(sign({ agent: { reasoning_effort: 'high', max_iterations: 1 } }), sign());
  for (const key of turnKeys) assert.equal(agentSignature({ ...inputs, [key]: 'other' }), sign(), key);
});

test('every field that is built in is an input of it', () => {
  const inputs = readAgentInputs(config, live);
  const signatures = rebuildKeys.map((key) => agentSignature({ ...inputs, [key]: ['other'] }));
  assert.equal(new Set([...signatures, sign()]).size, rebuildKeys.length + 1);
});

test('C7 extra configuration left out, null or an empty map: the same signature', () => {
  for (const extra of [null, {}, undefined]) assert.equal(sign({}, { extra }), sign());
  assert.notEqual(sign({}, { extra: { persona: 'pirate' } }), sign());
});

test('C8 a changed model.context_length changes it', () => {
  assert.notEqual(signModel({ context_length: 50_000 }), sign());
  assert.notEqual(signModel({ context_length: null }), sign());
});

test('C9 a changed compression.threshold changes it', () => {
  assert.notEqual(signCompression({ threshold: 0.6 }), sign());
});

test('C10 switching compression.enabled changes it', () => {
  assert.notEqual(signCompression({ enabled: false }), sign());
});

test('C11 the key order of a map does not matter', () => {
  const turned = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(turned);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value)
        .reverse()
        .map(([key, inner]) => [key, turned(inner)]),
    );
  };
  const extra = { a: { x: 1, y: [{ p: 1, q: 2 }] }, b: 2 };
  const other = readAgentInputs(turned(config), { ...live, extra: turned(extra) });
  const backwards = Object.fromEntries(Object.entries(other).reverse()) as typeof other;
  assert.equal(agentSignature(backwards), sign({}, { extra }));
  assert.notEqual(sign({}, { extra: { ...extra, a: { x: 1, y: [{ p: 2, q: 1 }] } } }), sign({}, { extra }));
});

test('C12 a new generation of the tool registry changes it', () => {
  assert.notEqual(sign({}, { registryGeneration: () => 2 }), sign());
});

test('the order of keys and of models that take over does matter: it says whom to ask first', () => {
  assert.notEqual(signModel({ api_key: ['b', 'a'] }), signModel({ api_key: ['a', 'b'] }));
  const chain = [{ name: 'one' }, { name: 'two' }];
  assert.notEqual(sign({ fallback: chain.toReversed() }), sign({ fallback: chain }));
});
