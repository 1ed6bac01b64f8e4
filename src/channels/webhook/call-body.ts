/** What the body of a call says: JSON, or a form, in which some platforms hide JSON. Pure. */
import { HttpProblem } from '../../http/http-message.ts';
import { isDeeperThan } from '../../http/json-depth.ts';

/** Far more than anything sensible has, far less than what a stack holds. */
const depthMax = 100;

export interface CallBody {
  readonly text: string;
  /** Undefined if it is neither of the two. */
  readonly fields: unknown;
}

/** Throws an `HttpProblem` for what nobody can have meant. */
export function readCallBody(bytes: Uint8Array, contentType: string): CallBody {
  if (isDeeperThan(bytes, depthMax)) {
    throw new HttpProblem(400, 'bad-request', `The body is nested more than ${depthMax} deep.`);
  }
  const text = new TextDecoder().decode(bytes);
  if (!/^application\/x-www-form-urlencoded\b/i.test(contentType)) return { text, fields: parsed(text) };
  const form = Object.fromEntries(new URLSearchParams(text));
  const { payload } = form;
  if (payload === undefined) return { text, fields: form };
  return isDeeperThan(Buffer.from(payload), depthMax)
    ? { text: payload, fields: undefined }
    : { text: payload, fields: parsed(payload) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
