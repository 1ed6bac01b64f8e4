/**
 * Bytes become server-sent events, however they are cut. An event has a largest size. What is no event stream at all is
 * noticed at its first character: no line of one begins with a brace, a bracket or an angle.
 */
import { createParser } from 'eventsource-parser';
import type { ServerSentEvent } from '../protocols/protocol.ts';

const eventCharsMax = 16 * 1024 * 1024;
const previewCharsMax = 200;

export interface EventReader {
  /** The events that are complete with these bytes. */
  push(chunk: Uint8Array): readonly ServerSentEvent[];
  /** A last event that lacks only its blank line. */
  finish(): readonly ServerSentEvent[];
  /** `other`: something else than an event stream; `unknown`: nothing has come yet. */
  readonly shape: 'unknown' | 'events' | 'other';
  /** An event was larger than allowed: nothing more is read. */
  readonly isOverflown: boolean;
  /** How the stream begins, as long as there was no event. */
  readonly preview: string;
}

export function createEventReader(): EventReader {
  const decoder = new TextDecoder();
  let shape: EventReader['shape'] = 'unknown';
  let isOverflown = false;
  let preview = '';
  let hasEvents = false;
  let events: ServerSentEvent[] = [];
  const parser = createParser({
    maxBufferSize: eventCharsMax,
    onEvent({ event, data }) {
      hasEvents = true;
      events.push({ name: event ?? '', data });
    },
    onError(error) {
      if (error.type === 'max-buffer-size-exceeded') isOverflown = true;
    },
  });
  const feed = (text: string): readonly ServerSentEvent[] => {
    if (!isOverflown) parser.feed(text);
    const ready = events;
    events = [];
    return ready;
  };
  const look = (text: string) => {
    if (hasEvents) return;
    if (preview.length < previewCharsMax) preview = (preview + text).slice(0, previewCharsMax);
    if (shape === 'unknown') {
      const first = /\S/u.exec(text)?.[0];
      if (first !== undefined) shape = '{[<'.includes(first) ? 'other' : 'events';
    }
  };

  return {
    push(chunk) {
      const text = decoder.decode(chunk, { stream: true });
      look(text);
      return feed(text);
    },
    finish() {
      const rest = feed(`${decoder.decode()}\n\n`);
      // What was cut in the middle is no event; what is whole but for its blank line is one.
      return rest.filter(({ data }) => data === '[DONE]' || isJson(data));
    },
    get shape() {
      return shape;
    },
    get isOverflown() {
      return isOverflown;
    },
    get preview() {
      return hasEvents ? '' : preview;
    },
  };
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
