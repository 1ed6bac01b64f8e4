import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, test, type TestContext } from 'node:test';
import type { SessionEvent } from '../protocol/events.ts';
import { createRemoteApi, isReachable } from './remote-api.ts';

type Handler = (request: IncomingMessage, response: ServerResponse, body: string) => void;

/** A real server that answers as told and remembers what it was asked. */
async function serve(test: TestContext, handle: Handler) {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      asked.push(`${request.method} ${request.url}${body === '' ? '' : ` ${body}`}`);
      handle(request, response, body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  test.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { origin, asked, server, api: createRemoteApi({ origin, key: null }) };
}

function answer(response: ServerResponse, value: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

const lively: SessionEvent[] = [
  { kind: 'live-state', turn: null },
  { kind: 'trouble', text: 'grüße\nund so' },
];

describe('the API over HTTP', () => {
  test('spells every verb as the protocol says', async (t) => {
    const { api, asked } = await serve(t, (request, response) => {
      const path = request.url ?? '';
      if (path.startsWith('/api/sessions?')) answer(response, { sessions: [] });
      else if (path.startsWith('/api/search')) answer(response, { hits: [] });
      else if (path.endsWith('/model-calls')) answer(response, { calls: ['call'] });
      else if (path.startsWith('/api/usage')) answer(response, { sums: ['sum'] });
      else if (path.endsWith('/export')) response.end('{"a":1}\n{"b":2}\n');
      else if (path === '/api/backup') response.end('bytes');
      else answer(response, { ok: true, stopped: true, done: true, deleted: true });
    });
    const request = { session: null, text: 'hi', externalId: 'x', channel: 'cli' } as const;
    const results = [
      await api.status(),
      await api.sessions({ limit: 5 }),
      await api.sessions({ limit: 5, before: 7 }),
      await api.session('a b/c'),
      await api.send(request),
      await api.stop('a'),
      await api.parked('a', 'retry'),
      await api.settings('a', { model: 'openai/x' }, true),
      await api.settings('a', { effort: null }, false),
      await api.modelCalls('a b'),
      await api.usage('2026-01-31'),
      await api.delete('ä'),
      await api.search('two words', 3),
      await api.rebuildSearch(),
      await collect(api.export('a')),
      await api.import(lines('{"a":1}', '{"b":2}'), 'new name'),
      await api.import(lines(), null),
      Buffer.concat(await collect(api.backup())).toString(),
    ];
    const reply = { ok: true, stopped: true, done: true, deleted: true };
    const exported = ['{"a":1}', '{"b":2}'];
    const changed = [reply, reply, ['call'], ['sum']];
    const expected = [
      reply,
      [],
      [],
      reply,
      reply,
      true,
      true,
      ...changed,
      true,
      [],
      undefined,
      exported,
      reply,
      reply,
      'bytes',
    ];
    assert.deepEqual(results, expected);
    assert.deepEqual(asked, [
      'GET /api/status',
      'GET /api/sessions?limit=5',
      'GET /api/sessions?limit=5&before=7',
      'GET /api/sessions/a%20b%2Fc',
      `POST /api/messages ${JSON.stringify(request)}`,
      'POST /api/sessions/a/stop {}',
      'POST /api/sessions/a/parked {"action":"retry"}',
      'POST /api/sessions/a/settings {"model":"openai/x","dryRun":true}',
      'POST /api/sessions/a/settings {"effort":null,"dryRun":false}',
      'GET /api/sessions/a%20b/model-calls',
      'GET /api/usage?since=2026-01-31',
      'DELETE /api/sessions/%C3%A4',
      'GET /api/search?q=two%20words&limit=3',
      'POST /api/search/rebuild',
      'GET /api/sessions/a/export',
      'POST /api/import?name=new%20name {"a":1}\n{"b":2}\n',
      'POST /api/import',
      'POST /api/backup',
    ]);
  });

  test('says whom it asks and shows the key, if there is one', async (t) => {
    const headers: (string | undefined)[] = [];
    const { origin } = await serve(t, (request, response) => {
      headers.push(request.headers.host, request.headers.authorization);
      answer(response, {});
    });
    await createRemoteApi({ origin, key: null }).status();
    await createRemoteApi({ origin, key: 'sesame' }).status();
    const host = new URL(origin).host;
    assert.deepEqual(headers, [host, undefined, host, 'Bearer sesame']);
  });

  test('passes on the reason and the words of the gateway', async (t) => {
    const { api } = await serve(t, (_request, response) =>
      answer(response, { error: { reason: 'busy', message: 'one moment' } }, 409),
    );
    await assert.rejects(api.status(), { name: 'ApiError', reason: 'busy', message: 'one moment' });
  });

  test('tells a session that is not there from any other failure', async (t) => {
    const { api } = await serve(t, (request, response) => {
      const isMissing = request.url === '/api/sessions/nobody';
      answer(response, { error: { reason: 'not-found', message: 'none' } }, isMissing ? 404 : 500);
    });
    assert.equal(await api.session('nobody'), null);
    await assert.rejects(api.delete('nobody'), { reason: 'not-found' });
  });

  test('names the reason of a refusal that is not the gateway’s own', async (t) => {
    const { api } = await serve(t, (request, response) => {
      response.writeHead(request.url === '/api/status' ? 413 : 418).end('<html>');
    });
    await assert.rejects(api.status(), { reason: 'too-large', message: 'the gateway refused with status 413' });
    await assert.rejects(api.stop('a'), { reason: 'failed', message: 'the gateway refused with status 418' });
  });

  test('knows that something else than a gateway answers', async (t) => {
    const { api } = await serve(t, (_request, response) => response.end('<html>hello'));
    await assert.rejects(api.status(), { reason: 'failed', message: /does not speak like a Talaria gateway/ });
  });

  test('is unreachable where nobody listens', async (t) => {
    const { origin, server, api } = await serve(t, (_request, response) => answer(response, {}));
    assert.equal(await isReachable({ origin, key: null }, 1_000), true);
    await new Promise((resolve) => server.close(resolve));
    await assert.rejects(api.status(), { name: 'ApiError', reason: 'unreachable' });
    assert.equal(await isReachable({ origin, key: null }, 1_000), false);
  });

  test('is reachable though it refuses, and unreachable if it never answers', async (t) => {
    const { origin } = await serve(t, (request, response) => {
      if (request.method !== 'GET') return;
      answer(response, {}, 503);
    });
    assert.equal(await isReachable({ origin, key: null }, 1_000), true);
    const silent = await serve(t, () => {});
    assert.equal(await isReachable({ origin: silent.origin, key: null }, 20), false);
  });

  test('never takes half a body for a whole one', async (t) => {
    const { api } = await serve(t, (request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.write(request.url === '/api/backup' ? 'half' : '{"half":');
      setImmediate(() => response.destroy());
    });
    await assert.rejects(api.status(), { reason: 'unreachable' });
    await assert.rejects(collect(api.backup()), { reason: 'unreachable' });
  });

  test('reports what went wrong with the lines of an import as it is', async (t) => {
    const { api } = await serve(t, (_request, response) => answer(response, {}));
    async function* broken(): AsyncGenerator<string> {
      yield '{}';
      throw new Error('no such file');
    }
    await assert.rejects(api.import(broken(), null), { message: 'no such file' });
  });
});

describe('events over HTTP', () => {
  test('come in order, however the network cuts them, and comments are passed over', async (t) => {
    const { api, asked } = await serve(t, (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const text = `: welcome\n\n${lively.map((event) => `id: 3\ndata: ${JSON.stringify(event)}\n\n`).join('')}`;
      const bytes = Buffer.from(text);
      for (let at = 0; at < bytes.length; at += 7) response.write(bytes.subarray(at, at + 7));
      response.end();
    });
    assert.deepEqual(await collect(api.events('my session', 41, new AbortController().signal)), lively);
    assert.deepEqual(asked, ['GET /api/sessions/my%20session/events?after=41']);
  });

  test('end quietly when they are not wanted any more', async (t) => {
    const { api } = await serve(t, (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(`data: ${JSON.stringify(lively[0])}\n\n`);
    });
    const enough = new AbortController();
    const seen: SessionEvent[] = [];
    for await (const event of api.events('a', 0, enough.signal)) {
      seen.push(event);
      setImmediate(() => enough.abort());
    }
    assert.deepEqual(seen, [lively[0]]);
    assert.deepEqual(await collect(api.events('a', 0, AbortSignal.abort())), []);
  });

  test('are broken off as unreachable when the gateway dies', async (t) => {
    const { api } = await serve(t, (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(`data: ${JSON.stringify(lively[0])}\n\n`);
      setImmediate(() => response.destroy());
    });
    const seen: SessionEvent[] = [];
    const reading = async () => {
      for await (const event of api.events('a', 0, new AbortController().signal)) seen.push(event);
    };
    await assert.rejects(reading(), { name: 'ApiError', reason: 'unreachable' });
    assert.deepEqual(seen, [lively[0]]);
  });

  test('of an unknown session are refused with the reason', async (t) => {
    const { api } = await serve(t, (_request, response) =>
      answer(response, { error: { reason: 'not-found', message: 'none' } }, 404),
    );
    await assert.rejects(collect(api.events('a', 0, new AbortController().signal)), { reason: 'not-found' });
  });

  test('that can not be read end the stream with a reason', async (t) => {
    const { api } = await serve(t, (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end('data: {"half\n\n');
    });
    await assert.rejects(collect(api.events('a', 0, new AbortController().signal)), { reason: 'failed' });
  });
});

async function* lines(...all: string[]): AsyncGenerator<string> {
  yield* all;
}
