/**
 * An answer as the stream of events of OpenAI's Responses API, in its order: created, in progress; for each message of the
 * assistant the item, its part, deltas, and all three done; at the end completed, incomplete or failed. What happens on
 * the way is told by further `response.in_progress` events with a field of our own, `talaria`: the official client fails
 * at event types that it does not know, and passes over fields.
 */
import type { SentEvent } from '../../http/server-sent-events.ts';
import { OpenAiError } from './api-error.ts';
import type { Answering } from './ask-question.ts';
import type { Progress } from './port.ts';
import { messageId } from './reply-ids.ts';
import {
  outputMessage,
  responseObject,
  textOutput,
  type Echoed,
  type OutputMessage,
  type OutputPart,
  type ResponseState,
} from './response-object.ts';
import { resultOf, type TurnResult } from './turn-result.ts';

/** An event with its name, for readers that go by it. */
export interface NamedEvent extends SentEvent {
  readonly event: string;
}

export async function* responseEvents(answering: Answering, echoed: Echoed): AsyncGenerator<NamedEvent> {
  const writer = new EventWriter(answering, echoed);
  yield writer.lifecycle('response.created', { kind: 'going-on' });
  yield writer.lifecycle('response.in_progress', { kind: 'going-on' });
  try {
    for await (const step of answering.steps) {
      switch (step.kind) {
        case 'text':
          yield* writer.text(step.text);
          break;
        case 'message-ended':
          yield* writer.endMessage();
          break;
        case 'progress':
          yield writer.progress(step.progress);
          break;
        case 'ended': {
          const result = resultOf(step.end, await answering.facts(step.end));
          yield* writer.refusal(result);
          const name = result.finish === 'stop' ? 'response.completed' : 'response.incomplete';
          yield writer.lifecycle(name, { kind: 'done', result });
        }
      }
    }
  } catch (error) {
    if (!(error instanceof OpenAiError)) throw error;
    yield* writer.endMessage();
    yield writer.lifecycle('response.failed', { kind: 'failed', error });
  }
}

class EventWriter {
  readonly #answering: Answering;
  readonly #echoed: Echoed;
  readonly #output: OutputMessage[] = [];
  /** The message under way; null between messages. */
  #text: string | null = null;
  #sequence = 0;

  constructor(answering: Answering, echoed: Echoed) {
    this.#answering = answering;
    this.#echoed = echoed;
  }

  lifecycle(type: string, state: ResponseState): NamedEvent {
    return this.#event(type, { response: this.#response(this.#echoed, state) });
  }

  progress(progress: Progress): NamedEvent {
    // Instructions may be long, and there may be many of these.
    const response = this.#response({ ...this.#echoed, instructions: null }, { kind: 'going-on' });
    return this.#event('response.in_progress', { response, talaria: progress });
  }

  #response(echoed: Echoed, state: ResponseState) {
    const open = this.#text === null ? [] : [this.#item('in_progress', [textOutput(this.#text)])];
    return responseObject(this.#answering, echoed, [...this.#output, ...open], state);
  }

  *text(delta: string): Generator<NamedEvent> {
    if (this.#text === null) {
      this.#text = '';
      yield* this.#begin(textOutput(''));
    }
    this.#text += delta;
    yield this.#event('response.output_text.delta', { ...this.#place, delta, logprobs: [] });
  }

  *endMessage(): Generator<NamedEvent> {
    const text = this.#text;
    if (text === null) return;
    this.#text = null;
    yield this.#event('response.output_text.done', { ...this.#place, text, logprobs: [] });
    yield* this.#end(textOutput(text));
  }

  *refusal({ refusal }: TurnResult): Generator<NamedEvent> {
    if (refusal === null) return;
    yield* this.#begin({ type: 'refusal', refusal: '' });
    yield this.#event('response.refusal.delta', { ...this.#place, delta: refusal });
    yield this.#event('response.refusal.done', { ...this.#place, refusal });
    yield* this.#end({ type: 'refusal', refusal });
  }

  *#begin(part: OutputPart): Generator<NamedEvent> {
    const item = this.#item('in_progress', []);
    yield this.#event('response.output_item.added', { output_index: this.#output.length, item });
    yield this.#event('response.content_part.added', { ...this.#place, part });
  }

  *#end(part: OutputPart): Generator<NamedEvent> {
    const item = this.#item('completed', [part]);
    yield this.#event('response.content_part.done', { ...this.#place, part });
    yield this.#event('response.output_item.done', { output_index: this.#output.length, item });
    this.#output.push(item);
  }

  #item(status: OutputMessage['status'], content: readonly OutputPart[]): OutputMessage {
    return outputMessage(this.#answering, this.#output.length, status, content);
  }

  /** Where the message under way stands in the response. */
  get #place() {
    return {
      item_id: messageId(this.#answering.inboxId, this.#output.length),
      output_index: this.#output.length,
      content_index: 0,
    };
  }

  #event(type: string, fields: object): NamedEvent {
    const data = JSON.stringify({ type, sequence_number: this.#sequence, ...fields });
    this.#sequence += 1;
    return { event: type, data };
  }
}
