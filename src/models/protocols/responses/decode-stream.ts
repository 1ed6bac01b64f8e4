/**
 * Reads one stream of OpenAI's responses dialect. An answer is a list of items that are added, grow and are done; the
 * last event repeats all of them. Some servers leave out the growing, some the single items, some change the ids on the
 * way: an item is known by its place, and whatever was not told when it grew is told when it is done, or at the end.
 */
import { explainStreamError } from '../../errors/explain-failure.ts';
import { ModelError, type ModelEvent, type Runtime, type StopReason } from '../../model.ts';
import type { Decoder, ServerSentEvent } from '../protocol.ts';
import { asFields, asText, parseFields, type Fields } from '../event-fields.ts';
import { keptItem } from './reasoning-item.ts';
import { readUsage } from './read-usage.ts';

interface OpenItem {
  /** What was told of it already. */
  text: string;
  thought: string;
  arguments: string;
  /** As it was added. */
  readonly item: Fields;
}

export function createResponsesDecoder(runtime: Runtime): Decoder {
  return new ResponsesDecoder(runtime);
}

class ResponsesDecoder implements Decoder {
  readonly #runtime: Runtime;
  readonly #open = new Map<number, OpenItem>();
  readonly #done = new Set<number>();
  #doneCount = 0;
  #newestIndex = -1;
  #calls = 0;
  #isRefused = false;
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
    return this.#hasEnded ? [] : this.#fail('The model stopped in mid-answer.');
  }

  #take(type: string, fields: Fields): readonly ModelEvent[] {
    switch (type) {
      case 'response.output_item.added':
        this.#add(this.#indexOf(fields, 1), asFields(fields['item']));
        return [];
      case 'response.output_text.delta':
        return this.#say(this.#indexOf(fields, 0), fields['delta']);
      case 'response.refusal.delta':
        this.#isRefused = true;
        return this.#say(this.#indexOf(fields, 0), fields['delta']);
      case 'response.reasoning_summary_part.added':
        return Number(fields['summary_index']) > 0 ? this.#think(this.#indexOf(fields, 0), '\n\n') : [];
      case 'response.reasoning_summary_text.delta':
      case 'response.reasoning_text.delta':
        return this.#think(this.#indexOf(fields, 0), fields['delta']);
      case 'response.function_call_arguments.delta':
        this.#item(this.#indexOf(fields, 0)).arguments += asText(fields['delta']);
        return [];
      case 'response.function_call_arguments.done':
        if (typeof fields['arguments'] === 'string') {
          this.#item(this.#indexOf(fields, 0)).arguments = fields['arguments'];
        }
        return [];
      case 'response.output_item.done':
        return this.#finishItem(this.#indexOf(fields, 0), asFields(fields['item']), false);
      case 'response.completed':
      case 'response.done':
      case 'response.incomplete':
        return this.#end(asFields(fields['response']), type === 'response.incomplete');
      case 'response.failed':
      case 'response.cancelled':
        return this.#failed(JSON.stringify({ error: asFields(fields['response'])['error'] ?? {} }));
      default:
        return [];
    }
  }

  #indexOf({ output_index: index }: Fields, ahead: 0 | 1): number {
    return typeof index === 'number' ? index : Math.max(0, this.#newestIndex + ahead);
  }

  #add(index: number, item: Fields): OpenItem {
    this.#newestIndex = Math.max(this.#newestIndex, index);
    // Some servers count every item as the first one.
    this.#done.delete(index);
    const open = { text: '', thought: '', arguments: asText(item['arguments']), item };
    this.#open.set(index, open);
    return open;
  }

  #item(index: number): OpenItem {
    return this.#open.get(index) ?? this.#add(index, {});
  }

  #say(index: number, text: unknown): readonly ModelEvent[] {
    if (typeof text !== 'string' || text === '') return [];
    this.#item(index).text += text;
    return [{ kind: 'text-delta', text }];
  }

  #think(index: number, text: unknown): readonly ModelEvent[] {
    if (typeof text !== 'string' || text === '') return [];
    this.#item(index).thought += text;
    return [{ kind: 'reasoning-delta', text }];
  }

  #finishItem(index: number, item: Fields, wasCut: boolean): readonly ModelEvent[] {
    if (this.#done.has(index)) return [];
    const open = this.#item(index);
    this.#done.add(index);
    this.#doneCount++;
    this.#open.delete(index);
    switch (item['type']) {
      case 'message': {
        const { text, isRefused } = contentOf(item);
        this.#isRefused ||= isRefused;
        return untold(text, open.text).map((rest) => ({ kind: 'text-delta', text: rest }));
      }
      case 'reasoning': {
        const opaque = keptItem(item);
        const rest = untold(thoughtOf(item), open.thought);
        return [
          ...rest.map((text) => ({ kind: 'reasoning-delta', text }) as const),
          { kind: 'reasoning-end', ...(opaque !== null && { opaque }) },
        ];
      }
      case 'function_call':
        return this.#finishCall(item, open, wasCut);
      default:
        return [];
    }
  }

  #finishCall(item: Fields, open: OpenItem, wasCut: boolean): readonly ModelEvent[] {
    const named = { ...open.item, ...item };
    const args = asText(item['arguments']) === '' ? open.arguments : asText(item['arguments']);
    // One that was cut off before its arguments would be run without any.
    if (args.trim() === '' && (wasCut || item['status'] === 'incomplete')) return [];
    this.#calls++;
    return [
      {
        kind: 'tool-call',
        providerCallId: asText(named['call_id']),
        name: asText(named['name']),
        arguments: args.trim() === '' ? '{}' : args,
      },
    ];
  }

  #end(response: Fields, isIncomplete: boolean): readonly ModelEvent[] {
    const { output, incomplete_details: details, error, status } = response;
    if (status === 'failed') return this.#failed(JSON.stringify({ error: error ?? {} }));
    const wasCut = isIncomplete || status === 'incomplete';
    const items = Array.isArray(output) && output.length > this.#doneCount ? output.map(asFields) : [];
    const rest = items.flatMap((item, index) => this.#finishItem(index, item, wasCut));
    // What was never said to be done, nor repeated: it is what it had grown to, and its seal was not the last one.
    const left = [...this.#open].sort(([a], [b]) => a - b);
    const grown = left.flatMap(([index, { item }]) =>
      this.#finishItem(index, { ...item, encrypted_content: null }, wasCut),
    );
    this.#hasEnded = true;
    const stop = this.#stopOf(wasCut ? asText(asFields(details)['reason']) : null);
    return [...rest, ...grown, { kind: 'end', stop, ...readUsage(response['usage']) }];
  }

  #stopOf(cutBy: string | null): StopReason {
    if (cutBy === 'content_filter' || (cutBy === null && this.#isRefused)) return 'refused';
    if (cutBy !== null) return 'length';
    return this.#calls > 0 ? 'tool-calls' : 'answer';
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

/** The rest of a text of which the beginning was told, as a list of none or one. */
function untold(whole: string, told: string): string[] {
  return whole.length > told.length && whole.startsWith(told) ? [whole.slice(told.length)] : [];
}

function contentOf({ content }: Fields): { readonly text: string; readonly isRefused: boolean } {
  const parts = (Array.isArray(content) ? content : []).map(asFields);
  return {
    text: parts.map((part) => asText(part['text']) + asText(part['refusal'])).join(''),
    isRefused: parts.some((part) => part['type'] === 'refusal'),
  };
}

function thoughtOf({ summary, content }: Fields): string {
  const words = (parts: unknown) => (Array.isArray(parts) ? parts.map((part) => asText(asFields(part)['text'])) : []);
  return (words(summary).length > 0 ? words(summary) : words(content)).join('\n\n');
}
