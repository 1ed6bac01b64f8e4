import assert from 'node:assert/strict';
import test from 'node:test';
import { systemClock } from '../lib/clock.ts';
import { ModelError, type Runtime } from './model.ts';
import { collect } from './model-suite.ts';
import { offlineRuntime } from './offline/offline-runtime.ts';
import { createOpenModel } from './open-model.ts';
import { scriptedRuntime, testRequest } from './scripted-model.ts';

const openModel = createOpenModel({ clock: systemClock, env: {} });
const noKeys: Runtime['keys'] = [{ id: '', secret: '' }];

async function refusal(runtime: Runtime): Promise<readonly string[]> {
  try {
    (await openModel(runtime)).close();
  } catch (error) {
    assert.ok(error instanceof ModelError);
    return [error.reason, error.message];
  }
  return [];
}

test('the model inside the program needs nothing', async () => {
  const runtime = offlineRuntime('rehearsal-instant');
  const model = await openModel(runtime);
  const request = testRequest({ messages: [{ role: 'user', parts: [{ kind: 'text', text: 'echo hi' }] }] });
  const events = await collect(model.stream(model.prepare(request), runtime.keys[0], new AbortController().signal));
  assert.deepEqual(events[0], { kind: 'text-delta', text: 'hi' });
  model.close();
});

test('a model inside the program that is not there is named', async () => {
  const [reason, message] = await refusal({ ...offlineRuntime('rehearsal'), model: 'encore' });
  assert.equal(reason, 'model-not-found');
  assert.equal(message, 'There is no offline model encore; there are rehearsal and rehearsal-instant.');
});

test('every dialect has its client', async () => {
  for (const apiMode of ['chat_completions', 'responses', 'anthropic_messages'] as const) {
    const model = await openModel(scriptedRuntime({ apiMode }));
    assert.match(model.prepare(testRequest()).body, /"hello"/);
    model.close();
  }
});

test('a provider that needs a key is not asked without one', async () => {
  const runtime = scriptedRuntime({ provider: 'anthropic', apiMode: 'anthropic_messages', keys: noKeys });
  assert.deepEqual(await refusal(runtime), [
    'auth',
    'No key for anthropic. Enter one with: talaria model set anthropic',
  ]);
});

test("a server of one's own may need no key", async () => {
  assert.deepEqual(await refusal(scriptedRuntime({ provider: 'custom', keys: noKeys })), []);
  assert.deepEqual(await refusal(scriptedRuntime({ provider: 'openai', reach: 'local', keys: noKeys })), []);
  assert.deepEqual(await refusal(scriptedRuntime({ provider: 'ollama', reach: 'local', keys: noKeys })), []);
});

test('an address that is none is told, with what one looks like', async () => {
  for (const baseUrl of ['', 'localhost:11434', 'ftp://example.com', 'nonsense']) {
    const [reason, message] = await refusal(scriptedRuntime({ provider: 'custom', baseUrl }));
    assert.equal(reason, 'bad-request');
    assert.match(message ?? '', /^model\.base_url of custom is no address .* It looks like https:\/\/HOST\/v1$/);
  }
});
