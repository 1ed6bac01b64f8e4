/** In which session a request is answered, and how a session's name travels in a header. */
import type { HttpRequest } from '../../http/http-message.ts';
import { sessionNameProblem } from '../../protocol/ids.ts';
import { badRequest } from './api-error.ts';
import { conversationOf, lastAsked, type Asked, type Said } from './conversation.ts';
import type { AskedSession } from './port.ts';

export interface Placed {
  readonly session: AskedSession;
  readonly asked: Asked;
}

/** In the stored session that the header names, or in a fresh one with the past that the request tells. */
export function placeOf(request: HttpRequest, said: readonly Said[], param: string, isContinued: boolean): Placed {
  const name = sessionNameIn(request);
  if (name !== null) return { session: { kind: 'named', name }, asked: lastAsked(said, param) };
  const { system, history, ...asked } = conversationOf(said, param);
  return { session: { kind: 'fresh', history, system, isContinued }, asked };
}

/** The name in the header; null if there is none. Names beyond ASCII come percent-encoded or as they are, and go out encoded. */
export function sessionNameIn(request: HttpRequest): string | null {
  const given = request.header('x-talaria-session');
  if (given === undefined) return null;
  const header = asUtf8(given);
  const name = header.includes('%') ? decoded(header) : header;
  const problem = sessionNameProblem(name);
  if (problem !== null) throw badRequest(`The header is not a session's name: ${problem}.`, 'X-Talaria-Session');
  return name;
}

export function sessionHeader(name: string): Record<string, string> {
  return { 'x-talaria-session': /^[\x20-\x7e]*$/.test(name) ? name : encodeURIComponent(name) };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Headers are read as Latin-1, whatever was sent; terminals send UTF-8. */
function asUtf8(header: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(header, 'latin1'));
  } catch {
    return header;
  }
}
