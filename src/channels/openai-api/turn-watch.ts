/**
 * Follows one message through its session's events to the end of its turn, and says what a client may be told on the way.
 * Pure: no clock, no I/O; the same events lead to the same steps.
 *
 * What is streamed can't be taken back, but an attempt at an answer can fail half-way and begin again. The rule: a text
 * step always continues what was sent of the same message. After a new beginning nothing is sent while its words are
 * still those that were sent; if they go on from there, only the rest is sent, and nobody notices. If they differ, that is
 * said (`restarted`) and the new words follow as a paragraph of their own: the stream then holds a void beginning and the
 * whole answer, never a mixture. The stored message has the last word in the same way, so the stream ends with it.
 */
import { filesOf, fileSize } from '../../protocol/entry-files.ts';
import type { LiveTurn, SessionEvent } from '../../protocol/events.ts';
import type { CallId, InboxId, TurnId } from '../../protocol/ids.ts';
import { textOf, toolCallsOf, type Entry, type TurnOutcome } from '../../protocol/messages.ts';
import type { Progress } from './port.ts';

export type TurnStep =
  /** Goes on with the current message, or begins one. */
  | { readonly kind: 'text'; readonly text: string }
  /** The current message is whole. */
  | { readonly kind: 'message-ended' }
  | { readonly kind: 'progress'; readonly progress: Progress }
  | { readonly kind: 'ended'; readonly end: TurnEnd };

export interface TurnEnd {
  /** Null if no turn was needed. */
  readonly turnId: TurnId | null;
  readonly outcome: TurnOutcome;
  /** The newest word to the people in the session about this turn. */
  readonly notice: string | null;
  /** `length`: the last answer was cut off at the longest output. `refused`: the model declined to answer. */
  readonly stop: 'answer' | 'length' | 'refused';
  /** What the assistant said since the message, one text for each of its messages that has any. */
  readonly texts: readonly string[];
}

export class TurnWatch {
  readonly #inboxId: InboxId;
  #lastSeq: number;
  #turnId: TurnId | null = null;
  #texts: string[] = [];
  #notice: string | null = null;
  #stop: TurnEnd['stop'] = 'answer';
  #status = '';
  /** What is being written, and what was sent of it. */
  #draft = '';
  #sent = '';
  /** `#draft` and `#sent` are the same: the usual case, told without comparing long texts. */
  #isInStep = false;
  readonly #calls = new Map<CallId, { name: string; state: 'planned' | 'started' | 'ended' }>();

  constructor(inboxId: InboxId, afterSeq: number) {
    this.#inboxId = inboxId;
    this.#lastSeq = afterSeq;
  }

  /** The newest entry seen: following again goes on from here. */
  get lastSeq(): number {
    return this.#lastSeq;
  }

  get texts(): readonly string[] {
    return this.#texts;
  }

  get isOpened(): boolean {
    return this.#turnId !== null;
  }

  see(event: SessionEvent): TurnStep[] {
    switch (event.kind) {
      case 'entry':
        return this.#seeEntry(event.entry);
      case 'live-state':
        return event.turn !== null && event.turn.turnId === this.#turnId ? this.#seeLive(event.turn) : [];
      case 'trouble':
        return this.#stands(event.text);
      default:
        return this.#turnId !== null && event.turnId === this.#turnId ? this.#seeInTurn(event) : [];
    }
  }

  #seeInTurn(event: Exclude<SessionEvent, { kind: 'entry' | 'live-state' | 'trouble' }>): TurnStep[] {
    switch (event.kind) {
      case 'text-delta':
        this.#draft += event.text;
        if (!this.#isInStep) return this.#catchUp(false);
        this.#sent = this.#draft;
        return [{ kind: 'text', text: event.text }];
      case 'draft-cleared':
        this.#draft = '';
        this.#isInStep = false;
        return [];
      case 'call-started':
        return this.#callStarted(event.callId, event.name);
      case 'call-ended':
        return this.#callEnded(event.callId, event.outcome);
      case 'status':
        return this.#stands(event.text);
      case 'turn-started':
      case 'turn-ended':
      case 'reasoning-delta':
      case 'call-output':
        return [];
    }
  }

  /** The end of a wait is told over and over, also where none was. */
  #stands(status: string): TurnStep[] {
    if (status === this.#status) return [];
    this.#status = status;
    return [progress({ status })];
  }

  /** What went on while nobody looked. */
  #seeLive(turn: LiveTurn): TurnStep[] {
    this.#draft = turn.text;
    this.#isInStep = false;
    const started = turn.calls.flatMap((call) => this.#callStarted(call.callId, call.name));
    return [...this.#catchUp(false), ...started, ...this.#stands(turn.status)];
  }

  #seeEntry(entry: Entry): TurnStep[] {
    if (entry.seq <= this.#lastSeq) return [];
    this.#lastSeq = entry.seq;
    if ('inboxId' in entry && entry.inboxId === this.#inboxId) this.#turnId = entry.turnId;
    if (this.#turnId === null || entry.turnId !== this.#turnId) return [];
    switch (entry.kind) {
      case 'message':
        if (entry.message.role === 'assistant') {
          for (const { callId, name } of toolCallsOf(entry.message))
            this.#calls.set(callId, { name, state: 'planned' });
          this.#stop = 'answer';
          return this.#said(textOf(entry.message));
        }
        if (entry.message.role === 'tool') {
          const [result] = entry.message.parts;
          return [...this.#callEnded(result.callId, result.outcome), ...this.#sentFiles(entry)];
        }
        return [];
      case 'notice':
        if (entry.question !== undefined) {
          const { callId, choices } = entry.question;
          return [progress({ question: entry.text, choices, call_id: callId })];
        }
        this.#notice = entry.text;
        if (entry.cause !== undefined) this.#stop = entry.cause === 'cut-off' ? 'length' : 'refused';
        return [progress({ notice: entry.text })];
      case 'turn-closed': {
        const { outcome } = entry;
        const end = { turnId: this.#turnId, outcome, notice: this.#notice, stop: this.#stop, texts: this.#texts };
        return [...this.#endMessage(), { kind: 'ended', end }];
      }
      case 'compression':
      case 'head':
      case 'rewound':
      case 'turn-opened':
      case 'titled':
        return [];
    }
  }

  /** An answer here is text alone: what was sent is named, and stays in the session. */
  #sentFiles(entry: Entry): TurnStep[] {
    const sent = filesOf(entry).filter(({ way }) => way === 'sent');
    return sent.flatMap(({ name, content }) =>
      this.#said(`[file ${name}, ${fileSize(content.bytes)}: in the session]`),
    );
  }

  #said(text: string): TurnStep[] {
    if (text.trim() !== '') this.#texts.push(text);
    this.#draft = text;
    return [...this.#catchUp(true), ...this.#endMessage()];
  }

  #endMessage(): TurnStep[] {
    const wasBegun = this.#sent !== '';
    this.#draft = '';
    this.#sent = '';
    this.#isInStep = false;
    return wasBegun ? [{ kind: 'message-ended' }] : [];
  }

  /** Sends what the draft has more than was sent. Empty lines alone are no message yet. */
  #catchUp(isWhole: boolean): TurnStep[] {
    if (this.#draft.trim() === '') return [];
    if (this.#draft.startsWith(this.#sent)) {
      const text = this.#draft.slice(this.#sent.length);
      this.#follow();
      return text === '' ? [] : [{ kind: 'text', text }];
    }
    if (!isWhole && this.#sent.startsWith(this.#draft)) return [];
    this.#follow();
    return [progress({ restarted: true }), { kind: 'text', text: `\n\n${this.#draft}` }];
  }

  #follow(): void {
    this.#sent = this.#draft;
    this.#isInStep = true;
  }

  #callStarted(callId: CallId, name: string): TurnStep[] {
    const known = this.#calls.get(callId)?.state ?? 'planned';
    if (known !== 'planned') return [];
    this.#calls.set(callId, { name, state: 'started' });
    return [progress({ tool: name, state: 'started', call_id: callId })];
  }

  /** Comes twice, live and stored; who looks later sees the stored one alone. */
  #callEnded(callId: CallId, outcome: string): TurnStep[] {
    const call = this.#calls.get(callId);
    if (call === undefined || call.state === 'ended') return [];
    const started = this.#callStarted(callId, call.name);
    this.#calls.set(callId, { name: call.name, state: 'ended' });
    return [...started, progress({ tool: call.name, state: outcome, call_id: callId })];
  }
}

const progress = (shown: Progress): TurnStep => ({ kind: 'progress', progress: shown });
