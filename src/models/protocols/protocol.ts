/**
 * What the three dialects have in common: a request becomes bytes, server-sent events become model events. Pure on both
 * sides; the wire, the keys' headers of a provider and the meaning of failures are others' work.
 */
import type { ApiKey, ModelEvent, ModelRequest, PreparedRequest, Runtime } from '../model.ts';

export interface Protocol {
  /** Below the runtime's base URL, with its slash. */
  readonly path: string;
  headers(runtime: Runtime, key: ApiKey): Readonly<Record<string, string>>;
  encode(runtime: Runtime, request: ModelRequest): EncodedRequest;
  decoder(runtime: Runtime): Decoder;
}

export type EncodedRequest = Omit<PreparedRequest, 'request'>;

/** Reads one stream. Throws nothing: what can't be understood ends the stream with `failed`, `malformed-stream`. */
export interface Decoder {
  /** What one server-sent event means; nothing more after an `end` or `failed`. */
  push(event: ServerSentEvent): readonly ModelEvent[];
  /** The connection has ended: the end that is still owed, if one is. */
  finish(): readonly ModelEvent[];
}

export interface ServerSentEvent {
  /** Empty if the event has no name. */
  readonly name: string;
  readonly data: string;
}
