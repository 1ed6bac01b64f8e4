/**
 * A server over HTTP on the loopback address, with sessions, and if asked for with a sign-in: it is its own authorization
 * server, registers clients, checks PKCE, and rotates what renews a token.
 */
import { createHash, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';

export interface HttpServer {
  readonly origin: string;
  readonly url: string;
  /** What was asked, as `METHOD PATH`, and of messages the method. */
  readonly seen: string[];
  readonly headers: IncomingMessage['headers'][];
  readonly tokens: Set<string>;
  readonly renewals: Set<string>;
  readonly sessions: Set<string>;
}

interface Asked {
  readonly challenge: string;
  readonly client: string;
  readonly redirect: string;
}

export async function startHttpServer(
  test: TestContext,
  { isGuarded = false, signInHost = '127.0.0.1', tools = [{ name: 'look' }] as readonly object[] } = {},
): Promise<HttpServer> {
  const state = {
    seen: [] as string[],
    headers: [] as IncomingMessage['headers'][],
    tokens: new Set<string>(),
    renewals: new Set<string>(),
    sessions: new Set<string>(),
  };
  const clients = new Map<string, string[]>();
  const codes = new Map<string, Asked>();
  const server = createServer((request, response) => void handle(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  test.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const origin = `http://127.0.0.1:${port}`;
  const signIn = `http://${signInHost}:${port}`;
  const json = (response: ServerResponse, status: number, body: object, headers = {}) =>
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
  const issue = () => {
    const [access, renewal] = [`access-${randomUUID()}`, `renewal-${randomUUID()}`];
    state.tokens.add(access);
    state.renewals.add(renewal);
    return { access_token: access, refresh_token: renewal, token_type: 'Bearer', expires_in: 3_600 };
  };

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '/', origin);
    const body = await bodyOf(request);
    state.seen.push(`${request.method} ${pathname}`);
    if (pathname === '/mcp') return message(request, response, body);
    if (pathname.startsWith('/.well-known/oauth-protected-resource')) {
      json(response, 200, { resource: `${origin}/mcp`, authorization_servers: [signIn] });
    } else if (pathname === '/.well-known/oauth-authorization-server') {
      json(response, 200, {
        issuer: signIn,
        authorization_endpoint: `${signIn}/authorize`,
        token_endpoint: `${signIn}/token`,
        registration_endpoint: `${signIn}/register`,
        response_types_supported: ['code'],
        grant_types_supported: ['authorization_code', 'refresh_token'],
        code_challenge_methods_supported: ['S256'],
        token_endpoint_auth_methods_supported: ['none'],
      });
    } else if (pathname === '/register') {
      const asked = JSON.parse(body) as { redirect_uris: string[] };
      const id = `client-${randomUUID()}`;
      clients.set(id, asked.redirect_uris);
      json(response, 201, { ...asked, client_id: id });
    } else if (pathname === '/authorize') {
      const client = searchParams.get('client_id') ?? '';
      const redirect = searchParams.get('redirect_uri') ?? '';
      if (clients.get(client)?.includes(redirect) !== true) return void json(response, 400, { error: 'unknown' });
      const code = randomUUID();
      codes.set(code, { challenge: searchParams.get('code_challenge') ?? '', client, redirect });
      const back = new URL(redirect);
      back.search = String(new URLSearchParams({ code, state: searchParams.get('state') ?? '' }));
      response.writeHead(302, { location: back.href }).end();
    } else if (pathname === '/token') json(response, ...token(new URLSearchParams(body)));
    else json(response, 404, {});
  }

  function token(form: URLSearchParams): [number, object] {
    if (form.get('grant_type') === 'refresh_token') {
      return state.renewals.delete(form.get('refresh_token') ?? '')
        ? [200, issue()]
        : [400, { error: 'invalid_grant' }];
    }
    const asked = codes.get(form.get('code') ?? '');
    codes.delete(form.get('code') ?? '');
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    const isRight = asked?.challenge === challenge && asked.redirect === form.get('redirect_uri');
    return isRight ? [200, issue()] : [400, { error: 'invalid_grant' }];
  }

  function message(request: IncomingMessage, response: ServerResponse, body: string): void {
    const bearer = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1] ?? '';
    if (isGuarded && !state.tokens.has(bearer)) {
      const where = `Bearer resource_metadata="${origin}/.well-known/oauth-protected-resource"`;
      return void json(response, 401, {}, { 'www-authenticate': where });
    }
    if (request.method !== 'POST') return void json(response, 405, {});
    const { id, method, params } = JSON.parse(body) as {
      id?: number;
      method: string;
      params?: Record<string, unknown>;
    };
    state.seen.push(method);
    state.headers.push(request.headers);
    if (method === 'server/discover')
      return void json(response, 400, { jsonrpc: '2.0', id, error: { code: -32_000, message: 'no session' } });
    if (method === 'initialize') {
      const session = randomUUID();
      state.sessions.add(session);
      const result = {
        protocolVersion: params?.['protocolVersion'],
        capabilities: { tools: {} },
        serverInfo: { name: 'web', version: '1' },
      };
      return void json(response, 200, { jsonrpc: '2.0', id, result }, { 'mcp-session-id': session });
    }
    if (!state.sessions.has(String(request.headers['mcp-session-id']))) return void json(response, 404, {});
    if (id === undefined) return void response.writeHead(202).end();
    if (method === 'tools/list') {
      const listed = tools.map((tool) => ({ inputSchema: { type: 'object' }, ...tool }));
      return void json(response, 200, { jsonrpc: '2.0', id, result: { tools: listed } });
    }
    const name = String(params?.['name']);
    const text = name === 'huge' ? 'x'.repeat(17_000_000) : `${name} done`;
    json(response, 200, { jsonrpc: '2.0', id, result: { content: [{ type: 'text', text }] } });
  }
  return { ...state, origin, url: `${origin}/mcp` };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}
