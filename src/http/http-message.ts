/**
 * Requests and responses as handlers see them. Plain values instead of the web's Request and Response: those cost
 * 40 ms and 18 MB to load, which a light program can do without.
 */
import type { BodyPlace } from './body-room.ts';
import { jsonExcess } from './json-depth.ts';

/** Far more than anything sensible has, far less than what a stack holds or a second can read. */
const jsonLimits = { depthMax: 100, valuesMax: 250_000 };

export interface HttpRequest {
  readonly method: string;
  /** As it was sent, without the query. */
  readonly path: string;
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  header(name: string): string | undefined;
  /** The address at the other end of the connection: a proxy's, if one is between. */
  readonly peer?: string;
  /** The name of the key that was shown; missing where none is needed. */
  readonly principal?: string;
  /** Aborts when the client goes away. */
  readonly signal: AbortSignal;
  /** The body as it comes. May be read once. */
  readonly body: AsyncIterable<Uint8Array>;
  /** Where bytes of the body are counted that are kept until it is whole; missing where nobody counts. */
  readonly enterRoom?: () => BodyPlace;
}

export interface HttpResponse {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** A stream is written at the client's pace and abandoned when the client goes away. */
  readonly body?: string | Uint8Array | AsyncIterable<string | Uint8Array>;
}

/** A request that can't be served, with a sentence for whoever sent it. */
export class HttpProblem extends Error {
  override readonly name = 'HttpProblem';
  readonly status: number;
  readonly reason: string;

  constructor(status: number, reason: string, message: string) {
    super(message);
    this.status = status;
    this.reason = reason;
  }
}

export function json(value: unknown, status = 200): HttpResponse {
  return {
    status,
    headers: { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' },
    body: `${JSON.stringify(value)}\n`,
  };
}

export function problem(status: number, reason: string, message: string): HttpResponse {
  return json({ error: { reason, message } }, status);
}

/** The whole body, refused as soon as it is larger than the limit. */
export async function readBytes(request: HttpRequest, bytesMax: number): Promise<Buffer> {
  const declared = Number(request.header('content-length') ?? 0);
  if (declared > bytesMax) throw tooLarge(bytesMax);
  const chunks: Uint8Array[] = [];
  let size = 0;
  const place = request.enterRoom?.();
  try {
    for await (const chunk of request.body) {
      size += chunk.byteLength;
      if (size > bytesMax) throw tooLarge(bytesMax);
      chunks.push(chunk);
      place?.add(chunk.byteLength);
    }
  } finally {
    place?.leave();
  }
  return Buffer.concat(chunks);
}

export function tooLarge(bytesMax: number): HttpProblem {
  return new HttpProblem(413, 'too-large', `The request is larger than ${bytesMax} bytes.`);
}

export async function readJson(request: HttpRequest, bytesMax: number): Promise<unknown> {
  const type = request.header('content-type') ?? '';
  // Only JSON: a form on another site can send text without asking this server first, but not this type.
  if (!/^application\/json\b/i.test(type)) {
    throw new HttpProblem(415, 'bad-request', 'Send the body as application/json.');
  }
  const bytes = await readBytes(request, bytesMax);
  const excess = jsonExcess(bytes, jsonLimits);
  if (excess === 'depth') {
    throw new HttpProblem(400, 'bad-request', `The body is nested more than ${jsonLimits.depthMax} deep.`);
  }
  if (excess === 'values') {
    throw new HttpProblem(413, 'too-large', `The body holds more than ${jsonLimits.valuesMax} values.`);
  }
  let decoded: string;
  try {
    decoded = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new HttpProblem(400, 'bad-request', 'The body is not valid UTF-8.');
  }
  try {
    return JSON.parse(decoded);
  } catch {
    throw new HttpProblem(400, 'bad-request', 'The body is not valid JSON.');
  }
}
