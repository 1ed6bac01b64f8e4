/**
 * One small question to an HTTP server, answered in JSON: for lists of models and for finding a local server, not for
 * calls of a model. Bounded in time and bytes. Never throws: what went wrong is a value.
 */
import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Clock } from '../lib/clock.ts';

export interface JsonRequest {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Makes it a POST. */
  readonly body?: unknown;
  readonly timeoutMs: number;
}

export type JsonAnswer =
  | { readonly kind: 'answered'; readonly status: number; readonly body: string; readonly json: unknown }
  | { readonly kind: 'cancelled' }
  | { readonly kind: 'timeout' }
  /** `code` is the system's own, as ECONNREFUSED. */
  | { readonly kind: 'failed'; readonly code: string };

/** OpenRouter's list of models has about half a megabyte. */
const bytesMax = 16_000_000;

export function exchangeJson(
  { clock }: { readonly clock: Clock },
  request: JsonRequest,
  signal: AbortSignal,
): Promise<JsonAnswer> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve({ kind: 'cancelled' });
    const sent = { request: null as ClientRequest | null };
    const end = (answer: JsonAnswer) => {
      cancelTimer();
      signal.removeEventListener('abort', onAbort);
      sent.request?.destroy();
      resolve(answer);
    };
    const onAbort = () => end({ kind: 'cancelled' });
    const cancelTimer = clock.setTimer(request.timeoutMs, () => end({ kind: 'timeout' }));
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      sent.request = send(request, (response) => read(response, end));
      sent.request.on('error', (error: NodeJS.ErrnoException) =>
        end({ kind: 'failed', code: error.code ?? 'unknown' }),
      );
    } catch {
      // An address that is none.
      end({ kind: 'failed', code: 'ERR_INVALID_URL' });
    }
  });
}

function send({ url, headers, body }: JsonRequest, onResponse: (response: IncomingMessage) => void): ClientRequest {
  const text = body === undefined ? null : JSON.stringify(body);
  const { request } = url.startsWith('https:')
    ? process.getBuiltinModule('node:https')
    : process.getBuiltinModule('node:http');
  const sent = request(url, {
    method: text === null ? 'GET' : 'POST',
    // A connection of its own: nothing stays open behind it.
    agent: false,
    headers: {
      accept: 'application/json',
      ...(text === null ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
      ...headers,
    },
  });
  sent.on('response', onResponse);
  sent.end(text ?? undefined);
  return sent;
}

function read(response: IncomingMessage, end: (answer: JsonAnswer) => void): void {
  const chunks: Buffer[] = [];
  let bytes = 0;
  response.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > bytesMax) end({ kind: 'failed', code: 'too long' });
    else chunks.push(chunk);
  });
  response.on('error', (error: NodeJS.ErrnoException) => end({ kind: 'failed', code: error.code ?? 'unknown' }));
  response.on('end', () => {
    const body = Buffer.concat(chunks).toString('utf8');
    end({ kind: 'answered', status: response.statusCode ?? 0, body, json: parsed(body) });
  });
}

/** Undefined if it is no JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** The objects in a list at this field. */
export function recordsAt(json: unknown, field: string): Readonly<Record<string, unknown>>[] {
  const list = isRecord(json) ? json[field] : undefined;
  return Array.isArray(list) ? list.filter(isRecord) : [];
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
