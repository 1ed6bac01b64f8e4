/**
 * `fetch` for servers elsewhere. Two things are not theirs to decide: how much of one message is kept, and where else than to
 * their own host we go. A server that wants a sign-in names other addresses for it; those are a stranger's choice, so they
 * are asked through the one way out, and without the headers that were set for the server.
 */
import type { FetchLike } from '@modelcontextprotocol/client';
import type { Egress } from '../egress.ts';
import { messageBytesMax } from './server-process.ts';

const otherBytesMax = 1_000_000;
const otherTimeoutMs = 30_000;
/** Of what was unpacked on the way, or belongs to the connection. */
const spentHeaders = new Set(['content-encoding', 'content-length', 'transfer-encoding', 'connection']);

export interface FetchPlace {
  /** The server's own address. */
  readonly server: URL;
  /** For the server alone. */
  readonly headers: Readonly<Record<string, string>>;
  readonly egress: Pick<Egress, 'fetch'>;
}

export function boundedFetch(place: FetchPlace): FetchLike {
  return (url, init) => {
    const isOwn = new URL(url).hostname === place.server.hostname;
    return isOwn ? fetchBounded(url, init) : fetchElsewhere(place, url, init);
  };
}

async function fetchBounded(url: string | URL, init: RequestInit | undefined): Promise<Response> {
  const response = await fetch(url, init);
  if (response.body === null) return response;
  const isStream = response.headers.get('content-type')?.includes('text/event-stream') === true;
  return asFrom(response, response.body.pipeThrough(limit(isStream)), response.headers);
}

async function fetchElsewhere(
  { egress, headers }: FetchPlace,
  url: string | URL,
  init: RequestInit = {},
): Promise<Response> {
  const asked = new Request(url, { ...init, signal: null });
  for (const name of Object.keys(headers)) {
    if (asked.headers.get(name) === headers[name]) asked.headers.delete(name);
  }
  const method = asked.method === 'POST' ? 'POST' : 'GET';
  const response = await egress.fetch({
    url: asked.url,
    method,
    headers: Object.fromEntries(asked.headers),
    ...(method === 'POST' ? { body: await asked.text() } : {}),
    bytesMax: otherBytesMax,
    timeoutMs: otherTimeoutMs,
    signal: init.signal ?? new AbortController().signal,
  });
  const kept = Object.entries(response.headers).filter(([name]) => !spentHeaders.has(name));
  const isRedirected = response.url !== asked.url;
  const body = response.body.byteLength === 0 ? null : Uint8Array.from(response.body);
  return asFrom({ ...response, redirected: isRedirected }, body, Object.fromEntries(kept));
}

/** A new one has no address, and redirects are judged by it. */
function asFrom(
  { status, url, redirected }: Pick<Response, 'status' | 'url' | 'redirected'>,
  body: ReadableStream<Uint8Array<ArrayBuffer>> | Uint8Array<ArrayBuffer> | null,
  headers: Headers | Record<string, string>,
): Response {
  const copy = new Response(body, { status, headers });
  Object.defineProperty(copy, 'url', { value: url });
  Object.defineProperty(copy, 'redirected', { value: redirected });
  return copy;
}

/** Of a stream each event is a message; they are apart by an empty line. */
function limit(isStream: boolean): TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>> {
  let bytes = 0;
  let newest = 0;
  return new TransformStream({
    transform(chunk, controller) {
      for (const byte of isStream ? chunk : []) {
        bytes += 1;
        if (byte === 13) continue;
        if (byte === 10 && newest === 10) bytes = 0;
        newest = byte;
      }
      if (!isStream) bytes += chunk.byteLength;
      if (bytes > messageBytesMax) controller.error(new Error('the server sent a message that is too long'));
      else controller.enqueue(chunk);
    },
  });
}
