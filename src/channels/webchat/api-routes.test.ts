import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { FakeApi, FakeHome } from '../../../test/support/fake-api.ts';
import type { HttpResponse } from '../../http/http-message.ts';
import { plainKeyName } from '../../http/key-ring.ts';
import { createRouter } from '../../http/router.ts';
import { FakeClock } from '../../lib/fake-clock.ts';
import { apiRoutes } from './api-routes.ts';

function setUp() {
  const home = new FakeHome();
  const session = home.create('work');
  const api = new FakeApi(home, { quote: () => ({ uncachedTokens: 7, usd: null }), onAnswer: () => true });
  const route = createRouter(apiRoutes(api, new FakeClock()));
  const ask = async (method: string, target: string, body?: unknown, principal?: string): Promise<HttpResponse> => {
    const url = new URL(target, 'http://localhost');
    return route({
      method,
      path: url.pathname,
      query: url.searchParams,
      header: (name: string) => (name === 'content-type' ? 'application/json' : undefined),
      body: chunks(body === undefined ? '' : JSON.stringify(body)),
      signal: new AbortController().signal,
      ...(principal === undefined ? {} : { principal }),
    });
  };
  const told = async (method: string, target: string, body?: unknown): Promise<[number, unknown]> => {
    const { status, body: text } = await ask(method, target, body);
    return [status, JSON.parse(typeof text === 'string' ? text : '') as unknown];
  };
  return { home, session, api, ask, told };
}

async function* chunks(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

const refusal = (message: RegExp) => (error: unknown) => {
  const { status, message: text } = error as { status: number; message: string };
  assert.equal(status, 400);
  assert.match(text, message);
  return true;
};

describe('the routes of the local API', () => {
  test('are for the owner: the key of a program opens none of them', async () => {
    const { api, ask } = setUp();
    const routes = apiRoutes(api, new FakeClock());
    for (const { method, path } of routes) {
      const target = path.replaceAll(/:\w+/g, 'work');
      await assert.rejects(
        ask(method, target, {}, 'laptop'),
        { status: 403, reason: 'forbidden' },
        `${method} ${path}`,
      );
    }
    assert.ok(routes.length > 20);
    assert.equal((await api.sessions({ limit: 9 })).length, 1, 'nothing was done');
    assert.equal((await ask('GET', '/api/status', undefined, plainKeyName)).status, 200);
  });

  test('a key for a program is made once the owner has one, and not in the name of the owner', async () => {
    const { api, ask } = setUp();
    const add = (name: string, principal?: string) => ask('POST', '/api/keys', { name }, principal);
    await assert.rejects(add('laptop'), { status: 400, message: /First make your own: talaria config set/ });
    await assert.rejects(add('owner', plainKeyName), { status: 400 });
    assert.deepEqual(await api.apiKeys(), []);
    assert.equal((await add('laptop', plainKeyName)).status, 200);
    assert.deepEqual(
      (await api.apiKeys()).map(({ name }) => name),
      ['laptop'],
    );
  });

  test('a change of settings is quoted or made', async () => {
    const { api, session, told } = setUp();
    const change = { model: 'openai/gpt', effort: 'high' };
    const quote = { settings: change, model: 'openai/gpt', uncachedTokens: 7, usd: null };
    const path = '/api/sessions/work/settings';
    assert.deepEqual(await told('POST', path, { ...change, dryRun: true }), [200, quote]);
    assert.deepEqual(session.settings, { model: null, effort: null });
    assert.deepEqual(await told('POST', path, change), [200, quote]);
    assert.deepEqual(session.settings, change);
    await told('POST', path, { model: null });
    assert.deepEqual(session.settings, { model: null, effort: 'high' });
    assert.deepEqual(api.calls.at(-1), 'settings {"model":null}');
  });

  test('settings that make no sense are refused before anybody is asked', async () => {
    const { api, told } = setUp();
    const path = '/api/sessions/work/settings';
    for (const model of ['', 'a b', 'x'.repeat(201), 7, '\u0007']) {
      await assert.rejects(told('POST', path, { model }), refusal(/`model` must be/));
    }
    await assert.rejects(told('POST', path, { effort: 'hard' }), refusal(/one of none, minimal, low/));
    await assert.rejects(told('POST', path, { dryRun: 'yes' }), refusal(/`dryRun` must be true or false/));
    await assert.rejects(told('POST', path, ['model']), refusal(/must be a JSON object/));
    assert.deepEqual(api.calls, []);
  });

  test('model calls and usage are handed on, from a day that exists', async () => {
    const { api, told } = setUp();
    assert.deepEqual(await told('GET', '/api/sessions/work/model-calls'), [200, { calls: [] }]);
    assert.deepEqual(await told('GET', '/api/usage?since=2026-02-28'), [200, { sums: [] }]);
    for (const day of ['', 'today', '2026-02-31', '2026-13-01', '26-01-01', '2026-01-01T00:00']) {
      await assert.rejects(told('GET', `/api/usage?since=${day}`), refusal(/`since` must be a day/));
    }
    await assert.rejects(told('GET', '/api/usage'), refusal(/`since` must be a day/));
    assert.deepEqual(api.calls, ['usage 2026-02-28']);
  });

  test('an answer needs the id of a call and a text', async () => {
    const { home, told } = setUp();
    const callId = home.ids.next('cal');
    const path = '/api/sessions/work/answers';
    assert.deepEqual(await told('POST', path, { callId, text: 'yes' }), [200, { answered: true }]);
    await assert.rejects(told('POST', path, { callId: 'x', text: 'yes' }), refusal(/`callId` must be/));
    await assert.rejects(told('POST', path, { callId }), refusal(/`text` must be/));
  });
});
