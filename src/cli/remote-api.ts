/**
 * The local API over HTTP: the other half of what `protocol/api.ts` spells. Behaves as the API does inside one
 * process; what can fail besides is the connection, as an `ApiError` with reason `unreachable`.
 */
import { createParser } from 'eventsource-parser';
import {
  ApiError,
  type GrantSummary,
  type PeopleReport,
  type PromptReport,
  type PressReceipt,
  type SayReceipt,
  type SearchHit,
  type SendReceipt,
  type SessionSummary,
  type SettingsQuote,
  type StatusReport,
  type TalariaApi,
  type ToolSummary,
} from '../protocol/api.ts';
import type { SessionEvent } from '../protocol/events.ts';
import type { ModelCallRecord, UsageSum } from '../protocol/usage.ts';
import { bodyChunks, exchangeJson, openExchange, type HttpTarget } from './http-exchange.ts';
import { toLines } from './lines.ts';

const patienceMs = 30_000;
/** Search, import and backup work through everything that is stored before they answer. */
const longPatienceMs = 600_000;
/** An open event stream shows a sign of life every 15 s; after this long without one the gateway hangs. */
const silenceMaxMs = 60_000;
/** One event: an entry with a tool's whole output at most. */
const eventCharsMax = 64 * 1024 * 1024;

export function createRemoteApi(target: HttpTarget): TalariaApi {
  const get = (path: string, signal?: AbortSignal) =>
    exchangeJson(target, { method: 'GET', path, patienceMs, ...(signal === undefined ? {} : { signal }) });
  const post = (path: string, body: unknown) =>
    exchangeJson(target, {
      method: 'POST',
      path,
      patienceMs,
      body: { type: 'application/json', chunks: [JSON.stringify(body)] },
    });
  return {
    status: async () => (await get('/api/status')) as StatusReport,
    async sessions({ limit, before }) {
      const query = before === undefined ? `limit=${limit}` : `limit=${limit}&before=${before}`;
      return ((await get(`/api/sessions?${query}`)) as { sessions: SessionSummary[] }).sessions;
    },
    async session(ref) {
      try {
        return (await get(sessionPath(ref))) as SessionSummary;
      } catch (error) {
        if (error instanceof ApiError && error.reason === 'not-found') return null;
        throw error;
      }
    },
    send: async (request) => (await post('/api/messages', request)) as SendReceipt,
    say: async (request) => (await post('/api/say', request)) as SayReceipt,
    async press(ref, value, externalId) {
      return (await post(`${sessionPath(ref)}/press`, { value, externalId })) as PressReceipt;
    },
    events: (ref, after, signal) => events(target, ref, after, signal),
    stop: async (ref) => ((await post(`${sessionPath(ref)}/stop`, {})) as { stopped: boolean }).stopped,
    async answer(ref, callId, text) {
      return ((await post(`${sessionPath(ref)}/answers`, { callId, text })) as { answered: boolean }).answered;
    },
    async parked(ref, action) {
      return ((await post(`${sessionPath(ref)}/parked`, { action })) as { done: boolean }).done;
    },
    async settings(ref, change, dryRun) {
      return (await post(`${sessionPath(ref)}/settings`, { ...change, dryRun })) as SettingsQuote;
    },
    async modelCalls(ref) {
      return ((await get(`${sessionPath(ref)}/model-calls`)) as { calls: ModelCallRecord[] }).calls;
    },
    async usage(sinceDay) {
      return ((await get(`/api/usage?since=${encodeURIComponent(sinceDay)}`)) as { sums: UsageSum[] }).sums;
    },
    people: async () => (await get('/api/people')) as PeopleReport,
    async approve(code, role) {
      return (await post('/api/people/approve', { code, role })) as PeopleReport['people'][number];
    },
    async revoke(channel, userId) {
      return ((await post('/api/people/revoke', { channel, userId })) as { revoked: boolean }).revoked;
    },
    async sendTo(place, text) {
      await post('/api/send', { target: place, text });
    },
    async apiKeys() {
      return ((await get('/api/keys')) as { keys: { name: string; createdAt: number }[] }).keys;
    },
    addApiKey: async (name) => ((await post('/api/keys', { name })) as { key: string }).key,
    async removeApiKey(name) {
      const path = `/api/keys/${encodeURIComponent(name)}`;
      return ((await exchangeJson(target, { method: 'DELETE', path, patienceMs })) as { removed: boolean }).removed;
    },
    tools: async () => ((await get('/api/tools')) as { tools: ToolSummary[] }).tools,
    async prompt(ref) {
      const query = ref === null ? '' : `?session=${encodeURIComponent(ref)}`;
      return (await get(`/api/prompt${query}`)) as PromptReport;
    },
    grants: async () => ((await get('/api/grants')) as { grants: GrantSummary[] }).grants,
    async revokeGrant(id) {
      const answer = await exchangeJson(target, { method: 'DELETE', path: `/api/grants/${id}`, patienceMs });
      return (answer as { removed: boolean }).removed;
    },
    async delete(ref) {
      const answer = await exchangeJson(target, { method: 'DELETE', path: sessionPath(ref), patienceMs });
      return (answer as { deleted: boolean }).deleted;
    },
    async search(query, limit, span = {}) {
      const times = Object.entries(span).map(([name, time]) => `&${name}=${Math.max(0, time)}`);
      const path = `/api/search?q=${encodeURIComponent(query)}&limit=${limit}${times.join('')}`;
      const answer = await exchangeJson(target, { method: 'GET', path, patienceMs: longPatienceMs });
      return (answer as { hits: SearchHit[] }).hits;
    },
    async rebuildSearch() {
      const path = '/api/search/rebuild';
      await exchangeJson(target, { method: 'POST', path, patienceMs: longPatienceMs });
    },
    async content(sha256) {
      const path = `/api/contents/${encodeURIComponent(sha256)}`;
      try {
        const response = await openExchange(target, { method: 'GET', path, accept: '*/*', patienceMs });
        return Buffer.concat(await Array.fromAsync(bodyChunks(target, response)));
      } catch (error) {
        if (error instanceof ApiError && error.reason === 'not-found') return null;
        throw error;
      }
    },
    async *export(ref) {
      const path = `${sessionPath(ref)}/export`;
      const response = await openExchange(target, { method: 'GET', path, accept: 'application/jsonl', patienceMs });
      yield* toLines(bodyChunks(target, response));
    },
    async import(lines, name) {
      const path = name === null ? '/api/import' : `/api/import?name=${encodeURIComponent(name)}`;
      const body = { type: 'application/jsonl', chunks: withNewlines(lines) };
      const answer = await exchangeJson(target, { method: 'POST', path, body, patienceMs: longPatienceMs });
      return answer as SessionSummary;
    },
    async *backup() {
      const response = await openExchange(target, {
        method: 'POST',
        path: '/api/backup',
        accept: 'application/gzip',
        patienceMs: longPatienceMs,
      });
      yield* bodyChunks(target, response);
    },
  };
}

/** Does anything answer there? Any HTTP answer counts, a refusal too. */
export async function isReachable(target: HttpTarget, waitMs: number): Promise<boolean> {
  try {
    const response = await openExchange(target, { method: 'GET', path: '/healthz', accept: '*/*', patienceMs: waitMs });
    response.destroy();
    return true;
  } catch (error) {
    return error instanceof ApiError && error.reason !== 'unreachable';
  }
}

function sessionPath(ref: string): string {
  return `/api/sessions/${encodeURIComponent(ref)}`;
}

async function* events(
  target: HttpTarget,
  ref: string,
  after: number,
  signal: AbortSignal,
): AsyncGenerator<SessionEvent> {
  if (signal.aborted) return;
  const parsed: SessionEvent[] = [];
  const parser = createParser({
    maxBufferSize: eventCharsMax,
    onEvent: (message) => parsed.push(readEvent(message.data)),
    onError: (error) => {
      // A field from a newer gateway is no reason to stop; an endless event is.
      if (error.type === 'max-buffer-size-exceeded') throw unreadable(error.message);
    },
  });
  const decoder = new TextDecoder();
  try {
    const path = `${sessionPath(ref)}/events?after=${after}`;
    const response = await openExchange(target, {
      method: 'GET',
      path,
      accept: 'text/event-stream',
      signal,
      patienceMs,
    });
    response.setTimeout(silenceMaxMs, () => response.destroy(new Error(`silent for ${silenceMaxMs / 1000} s`)));
    for await (const chunk of bodyChunks(target, response)) {
      parser.feed(decoder.decode(chunk, { stream: true }));
      yield* parsed.splice(0);
      if (signal.aborted) return;
    }
  } catch (error) {
    // Aborting is how a reader ends the stream; it arrives here as a broken connection.
    if (!signal.aborted) throw error;
  }
}

function readEvent(data: string): SessionEvent {
  try {
    return JSON.parse(data) as SessionEvent;
  } catch (error) {
    throw unreadable(error instanceof Error ? error.message : String(error));
  }
}

function unreadable(detail: string): ApiError {
  return new ApiError('failed', `the gateway sent an event that can't be read (${detail}); restart it`);
}

async function* withNewlines(lines: AsyncIterable<string>): AsyncGenerator<string> {
  for await (const line of lines) yield line.endsWith('\n') ? line : `${line}\n`;
}
