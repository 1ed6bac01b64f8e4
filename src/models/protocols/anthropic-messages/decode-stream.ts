/**
 * Reads one stream of Anthropic's dialect. Content comes in numbered blocks that start, grow and stop; the reason for
 * the end and the final usage come before the last event. What is not known is passed over; what contradicts itself
 * ends the stream as malformed.
 */
import type { TokenUsage } from '../../../protocol/usage.ts';
import { explainStreamError } from '../../errors/explain-failure.ts';
import { ModelError, type ModelEvent, type Runtime, type StopReason } from '../../model.ts';
import type { Decoder, ServerSentEvent } from '../protocol.ts';
import { asFields, asText, parseFields, type Fields } from '../event-fields.ts';
import { sealedThought, signedThought } from './thought.ts';

type OpenBlock =
  | { readonly kind: 'text' | 'other' }
  | { readonly kind: 'thought'; signature: string }
  | { readonly kind: 'sealed-thought'; readonly data: string }
  | { readonly kind: 'call'; readonly id: string; readonly name: string; readonly input: unknown; json: string };

const cutReasons: ReadonlySet<string> = new Set(['max_tokens', 'model_context_window_exceeded', 'pause_turn']);

export function createMessagesDecoder(runtime: Runtime): Decoder {
  return new MessagesDecoder(runtime);
}

class MessagesDecoder implements Decoder {
  readonly #runtime: Runtime;
  readonly #open = new Map<number, OpenBlock>();
  #newestIndex = -1;
  #calls = 0;
  /** A call without arguments may have been cut off before them: it waits until something follows. */
  #held: ModelEvent[] = [];
  #stopReason: string | null = null;
  #counts: Record<string, number> = {};
  #hasEnded = false;

  constructor(runtime: Runtime) {
    this.#runtime = runtime;
  }

  push({ name, data }: ServerSentEvent): readonly ModelEvent[] {
    if (this.#hasEnded || data.trim() === '' || data.trim() === '[DONE]') return [];
    const fields = parseFields(data);
    if (fields === null) return this.#fail('The answer of the model can not be read.');
    const type = typeof fields['type'] === 'string' ? fields['type'] : name;
    if (type === 'error' || (type === '' && fields['error'] !== undefined)) return this.#failed(data);
    return this.#take(type, fields);
  }

  finish(): readonly ModelEvent[] {
    if (this.#hasEnded) return [];
    const isWhole = this.#stopReason !== null && (this.#open.size === 0 || cutReasons.has(this.#stopReason));
    return isWhole ? this.#end() : this.#fail('The model stopped in mid-answer.');
  }

  #take(type: string, fields: Fields): readonly ModelEvent[] {
    switch (type) {
      case 'message_start': {
        const message = asFields(fields['message']);
        this.#count(message['usage']);
        return [];
      }
      case 'content_block_start':
        return this.#startBlock(this.#indexOf(fields, 1), asFields(fields['content_block']));
      case 'content_block_delta':
        return this.#growBlock(this.#indexOf(fields, 0), asFields(fields['delta']));
      case 'content_block_stop':
        return this.#stopBlock(this.#indexOf(fields, 0));
      case 'message_delta': {
        const { stop_reason: reason } = asFields(fields['delta']);
        if (typeof reason === 'string') this.#stopReason = reason;
        this.#count(fields['usage']);
        return [];
      }
      case 'message_stop':
        return this.#end();
      default:
        return [];
    }
  }

  /** Servers that only resemble the original leave the index out: then it is the newest block, or the one after it. */
  #indexOf({ index }: Fields, ahead: 0 | 1): number {
    return typeof index === 'number' ? index : this.#newestIndex + ahead;
  }

  #startBlock(index: number, block: Fields): readonly ModelEvent[] {
    const before = [...this.#stopBlock(index), ...this.#held.splice(0)];
    this.#newestIndex = index;
    switch (block['type']) {
      case 'text':
        this.#open.set(index, { kind: 'text' });
        return [...before, ...textDelta(block['text'])];
      case 'thinking':
        this.#open.set(index, { kind: 'thought', signature: asText(block['signature']) });
        return [...before, ...reasoningDelta(block['thinking'])];
      case 'redacted_thinking':
        this.#open.set(index, { kind: 'sealed-thought', data: asText(block['data']) });
        return before;
      case 'tool_use': {
        const { id, name, input } = block;
        this.#open.set(index, { kind: 'call', id: asText(id), name: asText(name), input, json: '' });
        return before;
      }
      default:
        this.#open.set(index, { kind: 'other' });
        return before;
    }
  }

  #growBlock(index: number, delta: Fields): readonly ModelEvent[] {
    const block = this.#open.get(index);
    switch (delta['type']) {
      case 'text_delta':
        return block?.kind === 'other' ? [] : textDelta(delta['text']);
      case 'thinking_delta':
        if (block === undefined) this.#open.set(index, { kind: 'thought', signature: '' });
        return reasoningDelta(delta['thinking']);
      case 'signature_delta':
        if (block?.kind === 'thought') block.signature += asText(delta['signature']);
        return [];
      case 'input_json_delta':
        if (block === undefined) return this.#fail('The model sent arguments of a call that it never began.');
        if (block.kind === 'call') block.json += asText(delta['partial_json']);
        return [];
      default:
        return [];
    }
  }

  #stopBlock(index: number): readonly ModelEvent[] {
    const block = this.#open.get(index);
    this.#open.delete(index);
    switch (block?.kind) {
      case 'thought': {
        const { signature } = block;
        return [{ kind: 'reasoning-end', ...(signature !== '' && { opaque: signedThought(signature) }) }];
      }
      case 'sealed-thought':
        return block.data === '' ? [] : [{ kind: 'reasoning-end', opaque: sealedThought(block.data) }];
      case 'call':
        return this.#finishCall(block);
      default:
        return [];
    }
  }

  #finishCall(block: OpenBlock & { kind: 'call' }): readonly ModelEvent[] {
    const { id: providerCallId, name } = block;
    const given = Object.keys(asFields(block.input)).length > 0 ? JSON.stringify(block.input) : '';
    const args = block.json.trim() === '' ? given : block.json;
    const call = { kind: 'tool-call', providerCallId, name, arguments: args === '' ? '{}' : args } as const;
    this.#calls++;
    if (args !== '') return [call];
    this.#held.push(call);
    return [];
  }

  #end(): readonly ModelEvent[] {
    const reason = this.#stopReason ?? '';
    const rest = [...this.#open.keys()].sort((a, b) => a - b).flatMap((index) => this.#stopBlock(index));
    const wasCut = cutReasons.has(reason) || reason === 'refusal';
    const stop = stopOf(reason, this.#calls);
    this.#hasEnded = true;
    return [...rest, ...(wasCut ? [] : this.#held), { kind: 'end', stop, ...this.#totals() }];
  }

  /** Later counts replace earlier ones: they are totals. */
  #count(usage: unknown): void {
    const { output_tokens_details: details, ...counts } = asFields(usage);
    for (const [name, value] of Object.entries({ ...counts, ...asFields(details) })) {
      if (typeof value === 'number') this.#counts[name] = value;
    }
  }

  #totals(): { readonly usage: TokenUsage; readonly usd: number | null } {
    const counted = (name: string) => this.#counts[name] ?? 0;
    const cachedTokens = counted('cache_read_input_tokens');
    const cacheWriteTokens = counted('cache_creation_input_tokens');
    const usage = {
      inputTokens: counted('input_tokens') + cachedTokens + cacheWriteTokens,
      cachedTokens,
      cacheWriteTokens,
      outputTokens: counted('output_tokens'),
      reasoningTokens: counted('thinking_tokens'),
    };
    return { usage, usd: this.#counts['cost'] ?? null };
  }

  #fail(sentence: string): readonly ModelEvent[] {
    this.#hasEnded = true;
    return [{ kind: 'failed', error: new ModelError('malformed-stream', sentence) }];
  }

  #failed(data: string): readonly ModelEvent[] {
    this.#hasEnded = true;
    return [{ kind: 'failed', error: explainStreamError(this.#runtime.provider, data) }];
  }
}

function stopOf(reason: string, calls: number): StopReason {
  if (reason === 'refusal') return 'refused';
  if (cutReasons.has(reason)) return 'length';
  return calls > 0 ? 'tool-calls' : 'answer';
}

function textDelta(text: unknown): readonly ModelEvent[] {
  return typeof text === 'string' && text !== '' ? [{ kind: 'text-delta', text }] : [];
}

function reasoningDelta(text: unknown): readonly ModelEvent[] {
  return typeof text === 'string' && text !== '' ? [{ kind: 'reasoning-delta', text }] : [];
}
