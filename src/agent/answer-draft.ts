/** The model's message as it grows. Neighbouring pieces of the same kind become one part. */
import type { IdSource } from '../lib/ids.ts';
import type { ModelEvent } from '../models/model.ts';
import type { LiveEvent } from '../protocol/events.ts';
import type { TurnId } from '../protocol/ids.ts';
import type { AssistantMessage, ReasoningPart, TextPart, ToolCallPart } from '../protocol/messages.ts';

export interface AnswerDraftDeps {
  readonly ids: IdSource;
  readonly sink: (event: LiveEvent) => void;
  readonly turnId: TurnId;
  /** Who thinks what is thought in it. */
  readonly origin: string;
}

type Content = Exclude<ModelEvent, { kind: 'end' | 'failed' }>;

export class AnswerDraft {
  readonly #deps: AnswerDraftDeps;
  readonly #parts: (TextPart | ReasoningPart | ToolCallPart)[] = [];
  /** A block of reasoning has begun and not ended: what is thought next belongs to it. */
  #isReasoning = false;
  #chars = 0;

  constructor(deps: AnswerDraftDeps) {
    this.#deps = deps;
  }

  /** How much the model has written so far. */
  get chars(): number {
    return this.#chars;
  }

  add(event: Content): void {
    const { sink, turnId, ids } = this.#deps;
    const last = this.#parts.at(-1);
    switch (event.kind) {
      case 'text-delta':
        this.#chars += event.text.length;
        this.#isReasoning = false;
        if (last?.kind === 'text') this.#replaceLast({ kind: 'text', text: last.text + event.text });
        else this.#parts.push({ kind: 'text', text: event.text });
        sink({ kind: 'text-delta', turnId, text: event.text });
        return;
      case 'reasoning-delta':
        this.#chars += event.text.length;
        this.#reason(event.text);
        sink({ kind: 'reasoning-delta', turnId, text: event.text });
        return;
      case 'reasoning-end':
        if (event.opaque !== undefined) this.#seal(event.opaque);
        this.#isReasoning = false;
        return;
      case 'tool-call': {
        this.#chars += event.name.length + event.arguments.length;
        this.#isReasoning = false;
        const { providerCallId, name } = event;
        this.#parts.push({
          kind: 'tool-call',
          callId: ids.next('cal'),
          providerCallId,
          name,
          arguments: event.arguments,
        });
      }
    }
  }

  message(): AssistantMessage {
    return { role: 'assistant', parts: this.#parts };
  }

  /** Neither words nor calls: nothing that could be an answer. */
  isSilent(): boolean {
    return !this.#parts.some((part) => part.kind === 'tool-call' || (part.kind === 'text' && part.text.trim() !== ''));
  }

  /** What a person saw before the stop: a call that was asked for but cut off is left out; null if nothing remains. */
  spokenOnly(): AssistantMessage | null {
    const parts = this.#parts.filter((part) => part.kind === 'text' && part.text.trim() !== '');
    return parts.length > 0 ? { role: 'assistant', parts } : null;
  }

  #reason(text: string): void {
    const last = this.#parts.at(-1);
    if (this.#isReasoning && last?.kind === 'reasoning') this.#replaceLast({ ...last, text: last.text + text });
    else this.#parts.push({ kind: 'reasoning', text, origin: this.#deps.origin });
    this.#isReasoning = true;
  }

  #seal(opaque: string): void {
    // A block may have no words that we are shown, only what the provider wants back.
    if (!this.#isReasoning) this.#reason('');
    const last = this.#parts.at(-1);
    if (last?.kind === 'reasoning') this.#replaceLast({ ...last, opaque });
  }

  #replaceLast(part: TextPart | ReasoningPart | ToolCallPart): void {
    this.#parts[this.#parts.length - 1] = part;
  }
}
