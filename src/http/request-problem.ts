/**
 * What is wrong with a request before anybody looks at what it wants: it is too large, it could mean two things to two
 * programs in a row, or it asks for another protocol. Pure.
 */
import type { IncomingMessage } from 'node:http';
import { HttpProblem } from './http-message.ts';
import type { ListenerLimits } from './listener-limits.ts';

/** Node keeps the first and drops the others; a proxy before it may have looked at the last. */
const onlyOnce = ['host', 'authorization', 'origin', 'content-type', 'content-length', 'transfer-encoding', 'expect'];

type RequestHead = Pick<IncomingMessage, 'url' | 'rawHeaders' | 'headers' | 'httpVersion'>;

export function requestProblem(
  { url = '', rawHeaders, headers, httpVersion }: RequestHead,
  limits: ListenerLimits,
): HttpProblem | null {
  if (url.length > limits.targetCharsMax) return addressTooLong(limits);
  if (rawHeaders.length / 2 > limits.headersMax) return headersTooLarge(limits);
  if (!url.startsWith('/')) return bad('This server answers for itself only, not for other addresses.');
  const names = rawHeaders.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase());
  const twice = onlyOnce.find((name) => names.indexOf(name) !== names.lastIndexOf(name));
  if (twice !== undefined) return bad(`The header ${twice} may stand in a request only once.`);
  if (headers.host === undefined && httpVersion !== '1.0') return bad('The header host is missing.');
  if (!/^(?:chunked)?$/i.test(headers['transfer-encoding'] ?? ''))
    return bad('A body may come in chunks, not encoded.');
  // Other protocols that a client offers may be passed over; a web socket would wait for the handshake.
  if (/\bwebsocket\b/i.test(headers.upgrade ?? '')) return bad('There are no web sockets here.');
  return null;
}

export function addressTooLong({ targetCharsMax }: ListenerLimits): HttpProblem {
  return new HttpProblem(414, 'too-large', `The address is longer than ${targetCharsMax} characters.`);
}

export function headersTooLarge({ headersMax, headerBytesMax }: ListenerLimits): HttpProblem {
  return new HttpProblem(431, 'too-large', `The headers are more than ${headersMax} or ${headerBytesMax} bytes.`);
}

function bad(message: string): HttpProblem {
  return new HttpProblem(400, 'bad-request', message);
}
