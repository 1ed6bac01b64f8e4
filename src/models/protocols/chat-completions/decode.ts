/**
 * Reads one stream of the chat completions dialect. Calls are given out whole, at the end. The end is told when the server
 * says that it is over (`[DONE]`, usage after a finish reason, the end of the connection), because usage comes last; an
 * end without a finish reason before it is a cut.
 */
import { explainStreamError } from '../../errors/explain-failure.ts';
import { ModelError, type ModelEvent, type Runtime, type StopReason } from '../../model.ts';
import type { Decoder, ServerSentEvent } from '../protocol.ts';
import { readUsage, unknownUsage } from './read-usage.ts';
import { ThinkTags, type ContentPiece } from './think-tags.ts';
import { addDetail, isDetail, sealThoughts, type ReasoningDetail } from './thoughts.ts';
import { callsMax, ToolCallDrafts } from './tool-call-drafts.ts';

type Fields = Readonly<Record<string, unknown>>;

const finishReasons: Readonly<Record<string, StopReason | 'failed'>> = {
  stop: 'answer',
  eos: 'answer',
  end_turn: 'answer',
  tool_calls: 'tool-calls',
  function_call: 'tool-calls',
  tool_use: 'tool-calls',
  length: 'length',
  max_tokens: 'length',
  model_length: 'length',
  content_filter: 'refused',
  refusal: 'refused',
  safety: 'refused',
  sensitive: 'refused',
  error: 'failed',
  abort: 'failed',
  network_error: 'failed',
  insufficient_system_resource: 'failed',
  malformed_function_call: 'failed',
};

export function createChatCompletionsDecoder(runtime: Runtime): Decoder {
  return new ChatCompletionsDecoder(runtime);
}

class ChatCompletionsDecoder implements Decoder {
  readonly #provider: string;
  readonly #calls = new ToolCallDrafts();
  readonly #details: ReasoningDetail[] = [];
  readonly #tags = new ThinkTags();
  #finish: StopReason | null = null;
  #used = unknownUsage;
  #hasSpoken = false;
  #isReasoning = false;
  #isRefused = false;
  #hasEnded = false;

  constructor(runtime: Runtime) {
    this.#provider = runtime.provider;
  }

  push({ name, data }: ServerSentEvent): readonly ModelEvent[] {
    const text = data.trim();
    if (this.#hasEnded || text === '') return [];
    if (text === '[DONE]') return this.#finish !== null || this.#hasSpoken ? this.#end() : this.#cut();
    const chunk = parsed(text);
    if (chunk === null && text.includes('\n')) {
      // Events without the blank line between them arrive as lines of one.
      return text.split('\n').flatMap((line) => this.push({ name, data: line }));
    }
    if (chunk === null) {
      // What comes after the answer may be anything.
      return this.#finish === null ? this.#fail('sent something that can not be read in the middle of an answer') : [];
    }
    if (name === 'error' || isError(chunk)) return this.#failWith(explainStreamError(this.#provider, text));
    return this.#take(chunk, text);
  }

  finish(): readonly ModelEvent[] {
    if (this.#hasEnded) return [];
    return this.#finish === null ? this.#cut() : this.#end();
  }

  #take(chunk: Fields, text: string): readonly ModelEvent[] {
    const choice = fieldsOf(listOf(chunk['choices'])[0]);
    const used = readUsage(chunk['usage'] ?? choice?.['usage'] ?? fieldsOf(chunk['x_groq'])?.['usage']);
    if (used !== null) this.#used = used;
    if (choice?.['error']) return this.#failWith(explainStreamError(this.#provider, JSON.stringify(choice['error'])));
    if (choice === null) return used !== null && this.#finish !== null ? this.#end() : [];
    const events = this.#takeDelta(fieldsOf(choice['delta']) ?? fieldsOf(choice['message']) ?? {});
    if (this.#calls.drafts.length > callsMax) return [...events, ...this.#fail('called more tools than there can be')];
    const reason = choice['finish_reason'];
    if (typeof reason !== 'string' || reason === '') return events;
    const stop = finishReasons[reason.toLowerCase()] ?? 'answer';
    if (stop === 'failed') return [...events, ...this.#failWith(this.#reasonGiven(reason.toLowerCase(), text))];
    this.#finish ??= stop;
    return events;
  }

  #takeDelta(delta: Fields): ModelEvent[] {
    const events: ModelEvent[] = [];
    for (const thought of this.#thoughtsIn(delta)) {
      this.#isReasoning = true;
      this.#hasSpoken = true;
      events.push({ kind: 'reasoning-delta', text: thought });
    }
    for (const piece of contentOf(delta['content'])) {
      this.#hasSpoken ||= piece.text !== '';
      events.push(...this.#speak(piece.isThought ? [piece] : this.#tags.push(piece.text)));
    }
    const refusal = delta['refusal'];
    if (typeof refusal === 'string' && refusal !== '') {
      this.#isRefused = true;
      this.#hasSpoken = true;
      events.push(...this.#endReasoning(), { kind: 'text-delta', text: refusal });
    }
    for (const call of [...listOf(delta['tool_calls']), delta['function_call']]) {
      const fields = fieldsOf(call);
      if (fields === null) continue;
      this.#hasSpoken = true;
      this.#calls.add(fields);
    }
    return events;
  }

  /** Details carry the thought once more; they speak only where nothing else does. */
  #thoughtsIn(delta: Fields): string[] {
    const details = listOf(delta['reasoning_details']).filter(isDetail);
    for (const detail of details) addDetail(this.#details, detail);
    const told = [delta['reasoning_content'], delta['reasoning'], delta['reasoning_text']].find(
      (value) => typeof value === 'string' && value !== '',
    );
    if (typeof told === 'string') return [told];
    return details
      .map((detail) => detail['text'] ?? detail['summary'])
      .filter((text): text is string => typeof text === 'string' && text !== '');
  }

  #speak(pieces: readonly ContentPiece[]): ModelEvent[] {
    return pieces.flatMap(({ text, isThought }): ModelEvent[] => {
      if (text === '') return [];
      if (!isThought) return [...this.#endReasoning(), { kind: 'text-delta', text }];
      this.#isReasoning = true;
      return [{ kind: 'reasoning-delta', text }];
    });
  }

  #endReasoning(): ModelEvent[] {
    if (!this.#isReasoning) return [];
    this.#isReasoning = false;
    return [{ kind: 'reasoning-end' }];
  }

  #end(): readonly ModelEvent[] {
    this.#hasEnded = true;
    const finish = this.#finish ?? 'answer';
    const held = this.#speak(this.#tags.flush());
    // A call that the limit cut off before its arguments was hardly begun; one beside a refusal is not meant.
    const calls = this.#calls.drafts.filter(
      (call) => finish !== 'refused' && (finish !== 'length' || call.arguments.trim() !== ''),
    );
    const opaque = sealThoughts(
      this.#details,
      calls.map((call) => call.signature),
    );
    const thought: ModelEvent[] = opaque === undefined ? this.#endReasoning() : [{ kind: 'reasoning-end', opaque }];
    const made = calls.map((call, index): ModelEvent => {
      const written = call.arguments.trim() === '' ? '{}' : call.arguments;
      const providerCallId = call.id === '' ? `call_${index}` : call.id;
      return { kind: 'tool-call', providerCallId, name: call.name, arguments: written };
    });
    const spoken = made.length > 0 ? 'tool-calls' : this.#isRefused ? 'refused' : 'answer';
    const stop = finish === 'answer' || finish === 'tool-calls' ? spoken : finish;
    return [...held, ...thought, ...made, { kind: 'end', stop, ...this.#used }];
  }

  #cut(): readonly ModelEvent[] {
    return this.#fail('ended its answer in the middle');
  }

  #fail(what: string): readonly ModelEvent[] {
    return this.#failWith(new ModelError('malformed-stream', `${this.#provider} ${what}.`));
  }

  #failWith(error: ModelError): readonly ModelEvent[] {
    this.#hasEnded = true;
    return [{ kind: 'failed', error }];
  }

  #reasonGiven(reason: string, text: string): ModelError {
    if (reason === 'malformed_function_call') {
      return new ModelError('malformed-stream', `${this.#provider} made a call that can not be read.`);
    }
    if (reason === 'insufficient_system_resource')
      return new ModelError('overloaded', `${this.#provider} is overloaded.`);
    const explained = explainStreamError(this.#provider, text);
    return explained.reason === 'unknown'
      ? new ModelError('server', `${this.#provider} failed in the middle of its answer (${reason}).`)
      : explained;
  }
}

/** Text, or a list of pieces of text and thought (Mistral). */
function contentOf(content: unknown): ContentPiece[] {
  if (typeof content === 'string') return [{ text: content, isThought: false }];
  return listOf(content).flatMap((piece): ContentPiece[] => {
    const fields = fieldsOf(piece);
    if (fields === null) return [];
    if (fields['type'] === 'thinking') {
      return contentOf(fields['thinking']).map(({ text }) => ({ text, isThought: true }));
    }
    return typeof fields['text'] === 'string' ? [{ text: fields['text'], isThought: false }] : [];
  });
}

function isError(chunk: Fields): boolean {
  const { error } = chunk;
  if (error !== undefined && error !== null && error !== false) return true;
  if (chunk['object'] === 'error' || chunk['type'] === 'error') return true;
  return chunk['choices'] === undefined && ('detail' in chunk || ('message' in chunk && 'code' in chunk));
}

function parsed(text: string): Fields | null {
  try {
    return fieldsOf(JSON.parse(text));
  } catch {
    return null;
  }
}

function fieldsOf(value: unknown): Fields | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : null;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
