/**
 * The bytes of an answer become model events: framing, dialect, and what is no stream at all. Pure but for what it has
 * read so far. Throws a `ModelError` where the answer makes no sense; an end is the last thing that it gives.
 */
import { ModelError, type ModelEvent, type Runtime } from './model.ts';
import type { Protocol, ServerSentEvent } from './protocols/protocol.ts';
import { createEventReader } from './transport/event-reader.ts';

export interface AnswerReader {
  push(chunk: Uint8Array): readonly ModelEvent[];
  /** The answer has ended. */
  finish(): readonly ModelEvent[];
  /** The connection failed: what was whole before that is an answer; otherwise the error is thrown again. */
  interrupt(error: unknown): readonly ModelEvent[];
}

export interface AnswerReaderDeps {
  readonly runtime: Runtime;
  readonly protocol: Protocol;
  /** What a body means that is an error object instead of a stream. */
  readonly explain: (body: string) => ModelError;
}

/** An answer that is no stream is read so far. */
const otherBytesMax = 256 * 1024;
const shownCharsMax = 80;

export function createAnswerReader({ runtime, protocol, explain }: AnswerReaderDeps): AnswerReader {
  const reader = createEventReader();
  const decoder = protocol.decoder(runtime);
  const other: Uint8Array[] = [];
  let otherBytes = 0;

  const meaningOf = (events: readonly ServerSentEvent[]) => events.flatMap((event) => decoder.push(event));
  /** Some report a failure with a status of success; anything else that is no stream is a riddle. */
  const notEvents = (): ModelError => {
    const body = Buffer.concat(other).toString();
    const isFailure = /"(?:error|detail|code)"\s*:/.test(body) && !/"choices"\s*:/.test(body);
    return isFailure ? explain(body) : malformed(runtime, `sent no events but ${shown(body)}`);
  };

  return {
    push(chunk) {
      const events = reader.push(chunk);
      if (reader.isOverflown) throw malformed(runtime, 'sent an event that is too large');
      if (reader.shape !== 'other') return meaningOf(events);
      other.push(chunk);
      otherBytes += chunk.byteLength;
      if (otherBytes > otherBytesMax) throw notEvents();
      return [];
    },
    finish() {
      if (reader.shape === 'other') throw notEvents();
      const events = meaningOf(reader.finish());
      if (reader.preview.trim() !== '') throw malformed(runtime, `sent no events but ${shown(reader.preview)}`);
      return [...events, ...decoder.finish()];
    },
    interrupt(error) {
      const isTransport = error instanceof ModelError && error.transport !== null;
      const events = isTransport ? decoder.finish() : [];
      if (events.at(-1)?.kind !== 'end') throw error;
      return events;
    },
  };
}

export function malformed(runtime: Runtime, what: string): ModelError {
  return new ModelError('malformed-stream', `${runtime.provider} ${what}.`);
}

function shown(text: string): string {
  const line = text
    .slice(0, 4 * shownCharsMax)
    .toWellFormed()
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim();
  return JSON.stringify(line.length > shownCharsMax ? `${line.slice(0, shownCharsMax).toWellFormed()}…` : line);
}
