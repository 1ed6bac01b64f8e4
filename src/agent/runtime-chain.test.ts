import assert from 'node:assert/strict';
import test from 'node:test';
import { ModelError, type Runtime } from '../models/model.ts';
import { createScriptedModel, scriptedRuntime, type ScriptedModel } from '../models/scripted-model.ts';
import { RuntimeChain } from './runtime-chain.ts';
import { RuntimeClients } from './runtime-clients.ts';

const compressor = { provider: 'p', model: 'small', contextLength: 64_000, thresholdTokens: 50_000 };
const primary = scriptedRuntime({
  provider: 'first',
  model: 'one',
  contextLength: 200_000,
  caching: 'breakpoints',
  compressor,
});
const second = scriptedRuntime({ provider: 'second', model: 'two', contextLength: 32_000, caching: 'none' });
const third = scriptedRuntime({ provider: 'third', model: 'three' });
const any = () => true;

function chainOf(...runtimes: [Runtime, ...Runtime[]]) {
  const opened: { runtime: Runtime; model: ScriptedModel }[] = [];
  const broken = new Set<Runtime>();
  const clients = new RuntimeClients(async (runtime) => {
    if (broken.has(runtime)) throw new ModelError('auth', 'no key');
    const model = createScriptedModel({ responses: [] });
    opened.push({ runtime, model });
    return model;
  });
  return { chain: new RuntimeChain(runtimes, clients), clients, opened, broken };
}

test('C56 C57 the primary is complete straight after construction, its compressor included', () => {
  const { chain } = chainOf(primary, second);
  assert.equal(chain.current, primary);
  assert.deepEqual(chain.current.compressor, compressor);
  assert.equal(chain.index, 0);
});

test('C60 restoring on the primary says false and changes nothing', async () => {
  const { chain, opened } = chainOf(primary, second);
  assert.equal(await chain.restore(), false);
  assert.equal(chain.current, primary);
  assert.deepEqual(opened, []);
});

test('C61 C63 C64 after a fallback, restoring brings the whole primary back: model, lengths, caching', async () => {
  const { chain } = chainOf(primary, second);
  assert.equal(chain.fallBack(any), true);
  assert.deepEqual([chain.current.model, chain.current.contextLength, chain.current.caching], ['two', 32_000, 'none']);
  assert.equal(await chain.restore(), true);
  assert.equal(chain.current, primary);
  assert.deepEqual(
    [chain.current.provider, chain.current.contextLength, chain.current.compressor, chain.current.caching],
    ['first', 200_000, compressor, 'breakpoints'],
  );
});

test('C62 after restoring, the whole chain is available again', async () => {
  const { chain } = chainOf(primary, second, third);
  chain.fallBack(any);
  chain.fallBack(any);
  assert.equal(chain.fallBack(any), false);
  assert.equal(chain.current, third);
  await chain.restore();
  assert.equal(chain.fallBack(any), true);
  assert.equal(chain.current, second);
});

test('C65 if the primary can not be built, restoring says false and the fallback goes on working', async () => {
  const { chain, clients, broken, opened } = chainOf(primary, second);
  chain.fallBack(any);
  const client = await clients.get(second);
  broken.add(primary);
  assert.equal(await chain.restore(), false);
  assert.equal(chain.current, second);
  assert.equal(await clients.get(chain.current), client);
  assert.deepEqual(
    opened.map(({ runtime, model }) => [runtime.model, model.closeCount]),
    [['two', 0]],
  );
  broken.clear();
  assert.equal(await chain.restore(), true);
});

test('entries that are not fit are skipped, and nothing changes if none is', () => {
  const { chain } = chainOf(primary, second, third);
  assert.equal(
    chain.hasNext((runtime) => runtime.contextLength > 1_000_000),
    false,
  );
  assert.equal(
    chain.fallBack((runtime) => runtime.contextLength > 1_000_000),
    false,
  );
  assert.equal(chain.index, 0);
  assert.equal(
    chain.fallBack((runtime) => runtime.model === 'three'),
    true,
  );
  assert.equal(chain.index, 2);
});

test('C79 C80 rebuilding closes the old client first and exactly once; a failed rebuild is false and no exception', async () => {
  const { clients, opened, broken } = chainOf(primary);
  await clients.get(primary);
  assert.equal(await clients.rebuild(primary), true);
  assert.deepEqual(
    opened.map(({ model }) => model.closeCount),
    [1, 0],
  );
  broken.add(primary);
  assert.equal(await clients.rebuild(primary), false);
  broken.clear();
  await clients.get(primary);
  await clients.close();
  await clients.close();
  assert.deepEqual(
    opened.map(({ model }) => model.closeCount),
    [1, 1, 1],
  );
});

test('a client is built once however many ask for it at the same time, and closed although it was still being built', async () => {
  const { clients, opened } = chainOf(primary);
  const [one, other] = await Promise.all([clients.get(primary), clients.get(primary)]);
  assert.equal(one, other);
  const late = clients.get(second);
  await clients.close();
  await late;
  assert.deepEqual(
    opened.map(({ model }) => model.closeCount),
    [1, 1],
  );
});
