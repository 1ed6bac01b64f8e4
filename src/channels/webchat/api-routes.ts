/** The local API over HTTP, as `protocol/api.ts` spells it. Translates and checks; decides nothing. */
import { eventStream, type SentEvent } from '../../http/server-sent-events.ts';
import { HttpProblem, json, readJson, type HttpRequest, type HttpResponse } from '../../http/http-message.ts';
import type { Route } from '../../http/router.ts';
import type { Clock } from '../../lib/clock.ts';
import { isId } from '../../lib/ids.ts';
import {
  ApiError,
  messageBytesMax,
  type ApiErrorReason,
  type ParkedAction,
  type SendRequest,
  type TalariaApi,
} from '../../protocol/api.ts';
import type { SessionEvent } from '../../protocol/events.ts';

/** JSON may spell a character as six, and a little is around it. */
const messageBodyBytesMax = messageBytesMax * 6 + 10_000;
const actionBodyBytesMax = 1_000;
const importBytesMax = 1_000_000_000;
const externalIdCharsMax = 200;

export function apiRoutes(api: TalariaApi, clock: Clock): Route[] {
  const routes: Route[] = [
    { method: 'GET', path: '/api/status', handle: async () => json(await api.status()) },
    { method: 'GET', path: '/api/sessions', handle: (request) => listSessions(api, request) },
    { method: 'GET', path: '/api/sessions/:ref', handle: (request) => showSession(api, ref(request)) },
    {
      method: 'DELETE',
      path: '/api/sessions/:ref',
      handle: async (request) => json({ deleted: await api.delete(ref(request)) }),
    },
    {
      method: 'POST',
      path: '/api/sessions/:ref/stop',
      handle: async (request) => json({ stopped: await api.stop(ref(request)) }),
    },
    { method: 'POST', path: '/api/sessions/:ref/answers', handle: (request) => answerCall(api, request) },
    {
      method: 'POST',
      path: '/api/sessions/:ref/parked',
      handle: async (request) => json({ done: await api.parked(ref(request), await parkedAction(request)) }),
    },
    { method: 'GET', path: '/api/sessions/:ref/events', handle: (request) => followEvents(api, clock, request) },
    { method: 'GET', path: '/api/sessions/:ref/export', handle: (request) => exportSession(api, ref(request)) },
    {
      method: 'POST',
      path: '/api/messages',
      handle: async (request) => json(await api.send(await sendRequest(request))),
    },
    { method: 'POST', path: '/api/import', handle: (request) => importSession(api, request) },
    { method: 'GET', path: '/api/search', handle: (request) => search(api, request) },
    {
      method: 'POST',
      path: '/api/backup',
      handle: () => ({ status: 200, headers: { 'content-type': 'application/gzip' }, body: api.backup() }),
    },
  ];
  return routes.map((route) => ({ ...route, handle: (request) => translated(() => route.handle(request)) }));
}

const statusOf: Record<ApiErrorReason, number> = {
  'bad-request': 400,
  unauthorized: 401,
  forbidden: 403,
  'not-found': 404,
  'too-large': 413,
  busy: 409,
  draining: 503,
  unreachable: 502,
  failed: 500,
};

async function translated(handle: () => Promise<HttpResponse> | HttpResponse): Promise<HttpResponse> {
  try {
    return await handle();
  } catch (error) {
    if (error instanceof ApiError) throw new HttpProblem(statusOf[error.reason], error.reason, error.message);
    throw error;
  }
}

const ref = (request: HttpRequest): string => request.params['ref'] ?? '';

async function listSessions(api: TalariaApi, request: HttpRequest): Promise<HttpResponse> {
  const limit = wholeNumber(request, 'limit', 100);
  const before = request.query.has('before') ? { before: wholeNumber(request, 'before', 0) } : {};
  return json({ sessions: await api.sessions({ limit, ...before }) });
}

async function showSession(api: TalariaApi, name: string): Promise<HttpResponse> {
  const session = await api.session(name);
  if (session === null) throw new ApiError('not-found', `There is no session named ${JSON.stringify(name)}.`);
  return json(session);
}

async function followEvents(api: TalariaApi, clock: Clock, request: HttpRequest): Promise<HttpResponse> {
  const lastSeen = request.header('last-event-id');
  const after = lastSeen !== undefined && /^\d+$/.test(lastSeen) ? Number(lastSeen) : wholeNumber(request, 'after', 0);
  // Asked for before the stream begins, so that an unknown session is a 404 and not an empty stream.
  await showSession(api, ref(request));
  return eventStream(clock, sent(api.events(ref(request), after, request.signal)));
}

async function* sent(events: AsyncIterable<SessionEvent>): AsyncGenerator<SentEvent> {
  for await (const event of events) {
    const data = JSON.stringify(event);
    yield event.kind === 'entry' ? { data, id: String(event.entry.seq) } : { data };
  }
}

async function exportSession(api: TalariaApi, name: string): Promise<HttpResponse> {
  await showSession(api, name);
  return {
    status: 200,
    headers: { 'content-type': 'application/jsonl; charset=utf-8' },
    body: withLineEnds(api.export(name)),
  };
}

async function* withLineEnds(lines: AsyncIterable<string>): AsyncGenerator<string> {
  for await (const line of lines) yield `${line}\n`;
}

async function importSession(api: TalariaApi, request: HttpRequest): Promise<HttpResponse> {
  return json(await api.import(linesOf(request.body), request.query.get('name')));
}

async function* linesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  let size = 0;
  for await (const chunk of chunks) {
    size += chunk.byteLength;
    if (size > importBytesMax) throw new ApiError('too-large', 'The import is larger than 1 GB.');
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  rest += decoder.decode();
  if (rest !== '') yield rest;
}

async function search(api: TalariaApi, request: HttpRequest): Promise<HttpResponse> {
  return json({ hits: await api.search(request.query.get('q') ?? '', wholeNumber(request, 'limit', 20)) });
}

function wholeNumber(request: HttpRequest, name: string, otherwise: number): number {
  const text = request.query.get(name);
  if (text === null) return otherwise;
  const value = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(value))
    throw new ApiError('bad-request', `${name} must be a whole number.`);
  return value;
}

async function readFields(request: HttpRequest, bytesMax: number): Promise<Record<string, unknown>> {
  const body = await readJson(request, bytesMax);
  if (typeof body !== 'object' || body === null) throw new ApiError('bad-request', 'The body must be a JSON object.');
  return body as Record<string, unknown>;
}

async function answerCall(api: TalariaApi, request: HttpRequest): Promise<HttpResponse> {
  const { callId, text } = await readFields(request, messageBodyBytesMax);
  if (typeof callId !== 'string' || !isId('cal', callId)) {
    throw new ApiError('bad-request', '`callId` must be the id of a call.');
  }
  if (typeof text !== 'string') throw new ApiError('bad-request', '`text` must be a string.');
  return json({ answered: await api.answer(ref(request), callId, text) });
}

async function parkedAction(request: HttpRequest): Promise<ParkedAction> {
  const { action } = await readFields(request, actionBodyBytesMax);
  if (action === 'retry' || action === 'drop') return action;
  throw new ApiError('bad-request', '`action` must be "retry" or "drop".');
}

async function sendRequest(request: HttpRequest): Promise<SendRequest> {
  const { session = null, text, externalId, channel = 'web' } = await readFields(request, messageBodyBytesMax);
  if (typeof text !== 'string') throw new ApiError('bad-request', '`text` must be a string.');
  if (session !== null && typeof session !== 'string')
    throw new ApiError('bad-request', '`session` must be a name or null.');
  if (typeof externalId !== 'string' || externalId === '' || externalId.length > externalIdCharsMax) {
    throw new ApiError('bad-request', `\`externalId\` must be text of 1 to ${externalIdCharsMax} characters.`);
  }
  if (channel !== 'web' && channel !== 'cli') throw new ApiError('bad-request', '`channel` must be "web" or "cli".');
  return { session, text, externalId: externalId.toWellFormed(), channel };
}
