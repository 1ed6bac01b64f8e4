import assert from 'node:assert/strict';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { systemClock } from '../../lib/clock.ts';
import { EgressError, type EgressRequest } from '../egress.ts';
import { SandboxError } from '../sandbox.ts';
import type { ConnectDeps } from './connect-server.ts';
import { McpError } from './mcp-server.ts';
import { startHttpServer } from './test-http-server.ts';
import { context, mcpStage, noWayOut, ready, serverSettings, until, use, type McpStage } from './test-mcp-stage.ts';
import { tryServer } from './try-server.ts';

const finished = (text: string) => ({ kind: 'finished', text, untrusted: 'mcp' });

test('a server elsewhere is spoken to over HTTP with the headers that are set, and greeted again when it has forgotten us', async (t) => {
  const stage = await mcpStage(t);
  const server = await startHttpServer(t, { tools: [{ name: 'look' }, { name: 'huge' }] });
  stage.servers = { web: serverSettings({ url: server.url, headers: { 'X-Key': 'topsecret' } }) };
  const servers = stage.open();
  await ready(servers);
  assert.deepEqual(await use(servers, 'mcp_web_look', {}, context(stage)), finished('look done'));
  assert.equal(server.headers.filter((headers) => headers['x-key'] === 'topsecret').length, server.headers.length);
  server.sessions.clear();
  assert.deepEqual(await use(servers, 'mcp_web_look', {}, context(stage)), finished('look done'));
  assert.equal(server.seen.filter((line) => line === 'initialize').length, 2);
  const lost = await use(servers, 'mcp_web_huge', {}, context(stage));
  assert.equal(lost.kind, 'failed');
  await until('it is back', () => servers.states()[0]?.state === 'ready');
  assert.deepEqual(await use(servers, 'mcp_web_look', {}, context(stage)), finished('look done'));
});

test('an address where nobody answers, or something else, says so', async (t) => {
  const stage = await mcpStage(t);
  const server = await startHttpServer(t, { isGuarded: true });
  stage.servers = {
    gone: serverSettings({ url: 'http://127.0.0.1:9/mcp' }),
    guarded: serverSettings({ url: server.url }),
    named: serverSettings({ url: server.url.replace('://', '://me:sesame@') }),
    other: serverSettings({ url: `${server.origin}/elsewhere` }),
  };
  const servers = stage.open();
  servers.start();
  await until('all have failed', () => servers.states().every(({ problem }) => problem !== null));
  assert.deepEqual(
    servers.states().map(({ state, problem }) => [state, problem?.split(' It said')[0]]),
    [
      ['failed', 'It can not be reached.'],
      [
        'sign-in-needed',
        'It refuses us (HTTP 401); it may need headers in mcp_servers.guarded.headers, or auth: oauth.',
      ],
      ['failed', 'Its address has a name or password in it. Give those in a header: Authorization: Basic …'],
      ['failed', 'It answers with HTTP 404; is the address right?'],
    ],
  );
});

test('a person signs in once, with a browser; what is kept is used and renewed without anybody, and is nobody else’s', async (t) => {
  const stage = await mcpStage(t);
  const server = await startHttpServer(t, { isGuarded: true });
  const settings = serverSettings({ url: server.url, auth: 'oauth' });
  stage.servers = { web: settings };
  const early = stage.open();
  early.start();
  await until('it wants a sign-in', () => early.states()[0]?.state === 'sign-in-needed');
  assert.equal(early.states()[0]?.problem, 'Somebody has to sign in first: talaria mcp test web');
  assert.deepEqual(server.seen, []);
  await early.close();

  const tried = await tryServer(personDeps(stage, followed), 'web', settings, new AbortController().signal);
  assert.deepEqual(
    tried.tools.map(({ name, standing }) => [name, standing]),
    [['look', 'approved']],
  );
  const path = join(stage.home, 'mcp', 'sign-in', 'web.json');
  assert.equal((await stat(path)).mode & 0o777, 0o600);

  const servers = stage.open();
  await ready(servers);
  assert.deepEqual(await use(servers, 'mcp_web_look', {}, context(stage)), finished('look done'));
  const before = await readFile(path, 'utf8');
  server.tokens.clear();
  assert.deepEqual(await use(servers, 'mcp_web_look', {}, context(stage)), finished('look done'));
  assert.notEqual(await readFile(path, 'utf8'), before);
  assert.deepEqual([server.tokens.size, server.seen.filter((line) => line === 'POST /register').length], [1, 1]);
  const [token = ''] = server.tokens;
  assert.ok((await readFile(path, 'utf8')).includes(token));
  assert.equal(stage.logLines.filter((line) => line.includes('access-') || line.includes('renewal-')).length, 0);

  // All that was given is taken back.
  server.tokens.clear();
  server.renewals.clear();
  assert.equal((await use(servers, 'mcp_web_look', {}, context(stage))).kind, 'failed');
  await until('it wants a sign-in again', () => servers.states()[0]?.state === 'sign-in-needed');
  assert.equal(server.seen.filter((line) => line === 'POST /register').length, 1);
});

test('tokens go to the address that gave them and to no other one', async (t) => {
  const stage = await mcpStage(t);
  const [one, other] = [await startHttpServer(t, { isGuarded: true }), await startHttpServer(t, { isGuarded: true })];
  const settings = serverSettings({ url: one.url, auth: 'oauth' });
  await tryServer(personDeps(stage, followed), 'web', settings, new AbortController().signal);
  stage.servers = { web: { ...settings, url: other.url } };
  const servers = stage.open();
  servers.start();
  await until('it wants a sign-in', () => servers.states()[0]?.state === 'sign-in-needed');
  assert.deepEqual(other.seen, []);
});

test('an answer to a question that nobody asked is not taken', async (t) => {
  const stage = await mcpStage(t);
  const server = await startHttpServer(t, { isGuarded: true });
  const settings = serverSettings({ url: server.url, auth: 'oauth' });
  const stop = new AbortController();
  const statuses: number[] = [];
  const forge = async (address: URL) => {
    const callback = new URL(address.searchParams.get('redirect_uri') ?? '');
    for (const search of ['?code=evil&state=guess', '?code=evil', '?error=x']) {
      callback.search = search;
      statuses.push((await fetch(callback)).status);
    }
    statuses.push(await statusOf(callback.port, '//'));
    stop.abort(new McpError('closed', 'enough'));
  };
  await assert.rejects(tryServer(personDeps(stage, forge, stop.signal), 'web', settings, stop.signal), /enough/);
  assert.deepEqual([statuses, server.seen.includes('POST /token')], [[404, 404, 404, 404], false]);
});

test('other hosts that a server names for its sign-in are asked through the one way out, without its headers', async (t) => {
  const stage = await mcpStage(t);
  const server = await startHttpServer(t, { isGuarded: true, signInHost: 'localhost' });
  const settings = serverSettings({ url: server.url, auth: 'oauth', headers: { 'X-Key': 'topsecret' } });
  const asked: EgressRequest[] = [];
  const sign = (fetchThere: (request: EgressRequest) => Promise<Response>) => {
    const egress: ConnectDeps['egress'] = {
      async fetch(request) {
        asked.push(request);
        const response = await fetchThere(request);
        const headers = Object.fromEntries(response.headers);
        return { status: response.status, headers, body: await response.bytes(), url: request.url };
      },
    };
    const deps = { ...personDeps(stage, followed), egress };
    return tryServer(deps, 'web', settings, new AbortController().signal);
  };
  await assert.rejects(
    sign(() => Promise.reject(new EgressError('forbidden', 'localhost leads to this machine.'))),
    (error: McpError) => error.said.includes('leads to this machine'),
  );
  assert.ok(asked.length > 0 && server.seen.every((line) => !/oauth-authorization-server|register|token/.test(line)));
  const tried = await sign(({ url, body, method, headers }) =>
    fetch(url, { method: method ?? 'GET', headers: { ...headers }, ...(body === undefined ? {} : { body }) }),
  );
  assert.equal(tried.tools.length, 1);
  assert.ok(server.seen.includes('POST /token'));
  assert.deepEqual(new Set(asked.map(({ url }) => new URL(url).hostname)), new Set(['localhost']));
  assert.equal(JSON.stringify(asked).includes('topsecret'), false);
});

test('a sign-in that the person refuses says so', async (t) => {
  const stage = await mcpStage(t);
  const server = await startHttpServer(t, { isGuarded: true });
  const settings = serverSettings({ url: server.url, auth: 'oauth' });
  const refuse = async (address: URL) => {
    const callback = new URL(address.searchParams.get('redirect_uri') ?? '');
    callback.search = `?error=access_denied&state=${address.searchParams.get('state')}`;
    await fetch(callback);
  };
  await assert.rejects(
    tryServer(personDeps(stage, refuse), 'web', settings, new AbortController().signal),
    (error: McpError) =>
      error.reason === 'sign-in-needed' && error.message === 'The sign-in was refused.' && /denied/.test(error.said),
  );
  assert.equal(server.seen.includes('POST /token'), false);
});

/** Of an address that `fetch` would not ask for. */
async function statusOf(port: string, path: string): Promise<number> {
  const { request } = process.getBuiltinModule('node:http');
  return new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port, path }, (response) => resolve(response.resume().statusCode ?? 0))
      .once('error', reject)
      .end();
  });
}

function personDeps(
  stage: McpStage,
  open: (address: URL) => Promise<void>,
  signal = new AbortController().signal,
): ConnectDeps {
  return {
    home: stage.home,
    workspace: stage.workspace,
    baseEnv: {},
    sandbox: () => Promise.reject(new SandboxError('none')),
    proxySocket: () => Promise.reject(new SandboxError('none')),
    egress: noWayOut,
    clock: systemClock,
    onWords: () => {},
    person: { show: (address) => void open(address), signal },
  };
}

/** What a browser does. */
async function followed(address: URL): Promise<void> {
  const response = await fetch(address);
  assert.match(await response.text(), /^Done\./);
}
