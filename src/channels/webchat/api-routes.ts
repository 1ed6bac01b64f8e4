/**
 * The local API over HTTP, as `protocol/api.ts` spells it, for the owner: a key with a name is a program's, which has
 * sessions of its own elsewhere. Translates and checks; decides nothing.
 */
import { eventStream, type SentEvent } from '../../http/server-sent-events.ts';
import { HttpProblem, json, type HttpRequest, type HttpResponse } from '../../http/http-message.ts';
import { plainKeyName } from '../../http/key-ring.ts';
import { readLines } from '../../http/read-lines.ts';
import type { Route } from '../../http/router.ts';
import type { Clock } from '../../lib/clock.ts';
import { isId } from '../../lib/ids.ts';
import {
  ApiError,
  messageBytesMax,
  type ApiErrorReason,
  type ParkedAction,
  type SendRequest,
  type SessionSettings,
  type TalariaApi,
} from '../../protocol/api.ts';
import type { SessionEvent } from '../../protocol/events.ts';
import { efforts, type Effort } from '../../protocol/usage.ts';
import { adminRoutes } from './admin-routes.ts';
import { contentRoutes } from './content-routes.ts';
import { readFields } from './read-fields.ts';

/** JSON may spell a character as six, and a little is around it. */
const messageBodyBytesMax = messageBytesMax * 6 + 10_000;
const actionBodyBytesMax = 1_000;
/** What a tool was given or has found may be deep; whatever walks it still has stack to spare. */
const importLimits = { bytesMax: 1_000_000_000, lineBytesMax: 64_000_000, depthMax: 1_000 };
const externalIdCharsMax = 200;
const modelNameCharsMax = 200;

export function apiRoutes(api: TalariaApi, clock: Clock): Route[] {
  const routes: Route[] = [
    ...adminRoutes(api),
    ...contentRoutes(api),
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
    { method: 'POST', path: '/api/sessions/:ref/settings', handle: (request) => changeSettings(api, request) },
    {
      method: 'GET',
      path: '/api/sessions/:ref/model-calls',
      handle: async (request) => json({ calls: await api.modelCalls(ref(request)) }),
    },
    {
      method: 'GET',
      path: '/api/usage',
      handle: async (request) => json({ sums: await api.usage(sinceDay(request)) }),
    },
    { method: 'GET', path: '/api/sessions/:ref/events', handle: (request) => followEvents(api, clock, request) },
    { method: 'GET', path: '/api/sessions/:ref/export', handle: (request) => exportSession(api, ref(request)) },
    {
      method: 'POST',
      path: '/api/messages',
      handle: async (request) => json(await api.send(await sendRequest(request))),
    },
    {
      method: 'POST',
      path: '/api/say',
      handle: async (request) => json(await api.say(await sendRequest(request))),
    },
    { method: 'POST', path: '/api/sessions/:ref/press', handle: (request) => pressButton(api, request) },
    { method: 'POST', path: '/api/import', handle: (request) => importSession(api, request) },
    { method: 'GET', path: '/api/search', handle: (request) => search(api, request) },
    {
      method: 'POST',
      path: '/api/search/rebuild',
      async handle() {
        await api.rebuildSearch();
        return json({ rebuilt: true });
      },
    },
    {
      method: 'POST',
      path: '/api/backup',
      handle: () => ({ status: 200, headers: { 'content-type': 'application/gzip' }, body: api.backup() }),
    },
  ];
  return routes.map((route) => ({ ...route, handle: (request) => translated(() => forOwner(route, request)) }));
}

function forOwner({ handle }: Route, request: HttpRequest): ReturnType<Route['handle']> {
  const { principal } = request;
  if (principal === undefined || principal === plainKeyName) return handle(request);
  throw new ApiError('forbidden', `The key ${principal} is for /v1/ alone; this needs the owner's, channels.api.key.`);
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
  return json(await api.import(readLines(request, importLimits), request.query.get('name')));
}

async function search(api: TalariaApi, request: HttpRequest): Promise<HttpResponse> {
  const span = {
    ...(request.query.has('after') ? { after: wholeNumber(request, 'after', 0) } : {}),
    ...(request.query.has('before') ? { before: wholeNumber(request, 'before', 0) } : {}),
  };
  return json({ hits: await api.search(request.query.get('q') ?? '', wholeNumber(request, 'limit', 20), span) });
}

function wholeNumber(request: HttpRequest, name: string, otherwise: number): number {
  const text = request.query.get(name);
  if (text === null) return otherwise;
  const value = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(value))
    throw new ApiError('bad-request', `${name} must be a whole number.`);
  return value;
}

async function answerCall(api: TalariaApi, request: HttpRequest): Promise<HttpResponse> {
  const { callId, text } = await readFields(request, messageBodyBytesMax);
  if (typeof callId !== 'string' || !isId('cal', callId)) {
    throw new ApiError('bad-request', '`callId` must be the id of a call.');
  }
  if (typeof text !== 'string') throw new ApiError('bad-request', '`text` must be a string.');
  return json({ answered: await api.answer(ref(request), callId, text) });
}

async function pressButton(api: TalariaApi, request: HttpRequest): Promise<HttpResponse> {
  const { value, externalId } = await readFields(request, actionBodyBytesMax);
  if (typeof value !== 'string') throw new ApiError('bad-request', '`value` must be a string.');
  return json(await api.press(ref(request), value, clientId(externalId)));
}

function clientId(externalId: unknown): string {
  if (typeof externalId === 'string' && externalId !== '' && externalId.length <= externalIdCharsMax) {
    return externalId.toWellFormed();
  }
  throw new ApiError('bad-request', `\`externalId\` must be text of 1 to ${externalIdCharsMax} characters.`);
}

async function parkedAction(request: HttpRequest): Promise<ParkedAction> {
  const { action } = await readFields(request, actionBodyBytesMax);
  if (action === 'retry' || action === 'drop') return action;
  throw new ApiError('bad-request', '`action` must be "retry" or "drop".');
}

async function changeSettings(api: TalariaApi, request: HttpRequest): Promise<HttpResponse> {
  const { model, effort, dryRun = false } = await readFields(request, actionBodyBytesMax);
  if (typeof dryRun !== 'boolean') throw new ApiError('bad-request', '`dryRun` must be true or false.');
  const change: { -readonly [Key in keyof SessionSettings]?: SessionSettings[Key] } = {};
  if (model !== undefined) change.model = modelChoice(model);
  if (effort !== undefined) change.effort = effortChoice(effort);
  return json(await api.settings(ref(request), change, dryRun));
}

function modelChoice(model: unknown): string | null {
  if (model === null) return null;
  if (typeof model === 'string' && model.length <= modelNameCharsMax && /^[\x21-\x7e]+$/.test(model)) return model;
  throw new ApiError(
    'bad-request',
    `\`model\` must be PROVIDER/NAME or a name, of at most ${modelNameCharsMax} printable characters, or null.`,
  );
}

function effortChoice(effort: unknown): Effort | null {
  const known = efforts.find((one) => one === effort);
  if (effort === null || known !== undefined) return known ?? null;
  throw new ApiError('bad-request', `\`effort\` must be one of ${efforts.join(', ')}, or null.`);
}

function sinceDay(request: HttpRequest): string {
  const day = request.query.get('since') ?? '';
  const time = /^\d{4}-\d{2}-\d{2}$/.test(day) ? Date.parse(day) : NaN;
  // The parser takes the 31st of February for the 3rd of March.
  if (!Number.isNaN(time) && new Date(time).toISOString().startsWith(day)) return day;
  throw new ApiError('bad-request', '`since` must be a day, like 2026-01-31.');
}

async function sendRequest(request: HttpRequest): Promise<SendRequest> {
  const { session = null, text, externalId, channel = 'web' } = await readFields(request, messageBodyBytesMax);
  if (typeof text !== 'string') throw new ApiError('bad-request', '`text` must be a string.');
  if (session !== null && typeof session !== 'string')
    throw new ApiError('bad-request', '`session` must be a name or null.');
  if (channel !== 'web' && channel !== 'cli') throw new ApiError('bad-request', '`channel` must be "web" or "cli".');
  return { session, text, externalId: clientId(externalId), channel };
}
