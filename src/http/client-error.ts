/**
 * Answers what never became a request: bytes that are no HTTP, heads that are too large or take too long. Written to the
 * socket by hand, because there is no response object for it, and the connection ends with it.
 */
import type { Duplex } from 'node:stream';
import { HttpProblem, problem } from './http-message.ts';
import type { ListenerLimits } from './listener-limits.ts';
import { addressTooLong, headersTooLarge } from './request-problem.ts';

const knownMethods = 'GET, HEAD, POST, DELETE';
/** How long the other side may go on sending before the connection is cut: cut at once, it might miss the answer. */
const lingerMs = 500;

const phrases: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  413: 'Content Too Large',
  414: 'URI Too Long',
  431: 'Request Header Fields Too Large',
  503: 'Service Unavailable',
};

export type ClientError = Error & { readonly code?: string; readonly rawPacket?: Buffer };

export function problemOf({ code, rawPacket }: ClientError, limits: ListenerLimits): HttpProblem {
  const packet = rawPacket?.toString('latin1') ?? '';
  if (code === 'HPE_HEADER_OVERFLOW') {
    return isOneLongLine(packet, limits) ? addressTooLong(limits) : headersTooLarge(limits);
  }
  if (code === 'HPE_CHUNK_EXTENSIONS_OVERFLOW') {
    return new HttpProblem(413, 'too-large', 'The chunks of the body carry too much besides it.');
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return new HttpProblem(408, 'bad-request', 'The request took too long to arrive.');
  }
  if (code === 'HPE_INVALID_METHOD' && /^[A-Z][A-Z-]* \S+ HTTP\/1/.test(packet)) return unknownMethod();
  return new HttpProblem(400, 'bad-request', 'This is not HTTP as it should be.');
}

export function unknownMethod(): HttpProblem {
  return new HttpProblem(405, 'bad-request', `This server takes ${knownMethods}.`);
}

/** Ends the connection with this answer. */
export function endWith(socket: Duplex, { status, reason, message }: HttpProblem): void {
  const { headers = {}, body = '' } = problem(status, reason, message);
  const text = typeof body === 'string' ? body : '';
  const all = {
    ...headers,
    ...(status === 405 ? { allow: knownMethods } : {}),
    'content-length': Buffer.byteLength(text),
    connection: 'close',
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  const cut = setTimeout(() => socket.destroy(), lingerMs);
  socket.once('close', () => clearTimeout(cut));
  socket.once('end', () => socket.destroy());
  socket.end(`HTTP/1.1 ${status} ${phrases[status] ?? 'Bad Request'}\r\n${lines.join('')}\r\n${text}`);
}

function isOneLongLine(packet: string, { targetCharsMax }: ListenerLimits): boolean {
  const end = packet.search(/[\r\n]/);
  return /^[A-Z]+ /.test(packet) && (end === -1 || end > targetCharsMax);
}
