import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, test } from 'node:test';
import { FakeClock } from '../lib/fake-clock.ts';
import { buildRuntime, type RuntimeSpec } from './build-runtime.ts';
import { listModels } from './list-models.ts';
import { ModelError, type ModelErrorReason } from './model.ts';

const never = new AbortController().signal;

describe('the list of models', () => {
  let server: Server | null = null;
  afterEach(() => {
    server?.closeAllConnections();
    server?.close();
    server = null;
  });

  const requests: IncomingMessage[] = [];
  const listen = async (status: number, body: unknown): Promise<string> => {
    requests.length = 0;
    const listening = createServer((request, response) => {
      requests.push(request);
      if (body === null) return;
      response.writeHead(status, { 'retry-after': '7' });
      response.end(typeof body === 'string' ? body : JSON.stringify(body));
    });
    server = listening;
    await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(listening.address() as AddressInfo).port}`;
  };

  const list = (spec: Partial<RuntimeSpec>, signal = never, clock = new FakeClock()) => {
    const nothing = { name: null, baseUrl: null, apiMode: null, apiKeys: [], contextLength: null };
    const limits = { outputTokensMax: null, stallMs: null, price: null, compressor: null };
    const runtime = buildRuntime({ provider: 'custom', ...nothing, ...limits, ...spec }, {});
    return listModels({ clock }, runtime, runtime.keys[0], signal);
  };

  const fails = async (promise: Promise<unknown>, reason: ModelErrorReason, message: RegExp) => {
    const error = await promise.then(
      () => assert.fail('it should have failed'),
      (thrown: unknown) => thrown,
    );
    assert.ok(error instanceof ModelError, String(error));
    assert.equal(error.reason, reason);
    assert.match(error.message, message);
    assert.doesNotMatch(error.message, /sk-secret-1/);
  };

  test('of an OpenAI-compatible API is in alphabetical order, each name once', async () => {
    const baseUrl = `${await listen(200, { data: [{ id: 'b' }, { id: 'a' }, { id: 'b' }, { id: 3 }, null] })}/v1/`;
    assert.deepEqual(await list({ baseUrl, apiKeys: ['sk-secret-1'] }), ['a', 'b']);
    const [request] = requests;
    assert.deepEqual([request?.url, request?.headers.authorization], ['/v1/models', 'Bearer sk-secret-1']);
  });

  test('is asked for without a key where there is none', async () => {
    await list({ baseUrl: await listen(200, { data: [] }) });
    assert.equal(requests[0]?.headers.authorization, undefined);
  });

  test('of Anthropic is asked for with its own headers', async () => {
    const baseUrl = await listen(200, { data: [{ id: 'claude-x', type: 'model' }], has_more: false });
    const anthropic = { provider: 'anthropic', baseUrl: `${baseUrl}/v1` };
    assert.deepEqual(await list({ ...anthropic, apiKeys: ['sk-secret-1'] }), ['claude-x']);
    await list({ ...anthropic, apiKeys: ['sk-ant-oat01-x'] });
    assert.deepEqual(
      requests.map(({ url, headers }) => [
        url,
        headers['anthropic-version'],
        headers['x-api-key'],
        headers.authorization,
      ]),
      [
        ['/v1/models?limit=1000', '2023-06-01', 'sk-secret-1', undefined],
        ['/v1/models?limit=1000', '2023-06-01', undefined, 'Bearer sk-ant-oat01-x'],
      ],
    );
  });

  test('of Ollama is its own', async () => {
    const baseUrl = await listen(200, { models: [{ name: 'qwen3:8b' }, { name: 'llama3:8b' }] });
    assert.deepEqual(await list({ provider: 'ollama', baseUrl }), ['llama3:8b', 'qwen3:8b']);
    assert.equal(requests[0]?.url, '/api/tags');
  });

  test('may be a bare list, have folders before the names, or other words for them', async () => {
    assert.deepEqual(await list({ baseUrl: await listen(200, [{ id: 'x' }]) }), ['x']);
    server?.close();
    const said = { models: [{ slug: 'y' }], data: [{ id: 'models/gemini-x' }] };
    assert.deepEqual(await list({ baseUrl: await listen(200, said) }), ['gemini-x', 'y']);
  });

  test('of the offline model needs nobody', async () => {
    assert.deepEqual(await list({ provider: 'offline' }), ['rehearsal', 'rehearsal-instant']);
  });

  const refusals: readonly (readonly [number, unknown, ModelErrorReason, RegExp])[] = [
    [401, { error: { message: 'Incorrect API key provided: sk-secret-1.' } }, 'auth', /talaria model set custom/],
    [402, { error: { message: 'Insufficient balance' } }, 'billing', /balance/],
    [429, { error: { message: 'Slow down' } }, 'rate-limit', /Slow down/],
    [503, 'down', 'overloaded', /HTTP 503/],
    [200, '<html>login</html>', 'malformed-stream', /something else than a list of models\. Check model\.base_url/],
    [200, { object: 'x' }, 'malformed-stream', /something else/],
  ];
  for (const [status, body, reason, message] of refusals) {
    test(`fails with ${reason} on HTTP ${status} ${JSON.stringify(body)}`, async () => {
      await fails(list({ baseUrl: await listen(status, body), apiKeys: ['sk-secret-1'] }), reason, message);
    });
  }

  test('fails with a sentence where nobody listens', async () => {
    const baseUrl = await listen(200, '');
    server?.close();
    await fails(list({ baseUrl }), 'connection', /^Custom can't be reached at http:\/\/127.*\(ECONNREFUSED\)/);
    await fails(list({ baseUrl: 'nonsense' }), 'connection', /ERR_INVALID_URL/);
  });

  test('fails after a while on a server that says nothing', async () => {
    const clock = new FakeClock();
    const baseUrl = await listen(200, null);
    const listed = fails(list({ baseUrl }, never, clock), 'timeout', /within 15 seconds/);
    await clock.advance(15_000);
    await listed;
  });

  test('is given up when it is not wanted any more', async () => {
    const stop = new AbortController();
    const baseUrl = await listen(200, null);
    server?.once('request', () => stop.abort());
    await fails(list({ baseUrl }, stop.signal), 'cancelled', /stopped/);
    await fails(list({ baseUrl }, stop.signal), 'cancelled', /stopped/);
  });
});
