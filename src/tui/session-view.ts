/**
 * Turns a session's events into text for a terminal that only scrolls: streams the reply as it comes, one line for
 * each tool call, a word for everything else. Live events may be lost or repeat what is stored; what a person sees is
 * complete all the same, because every stored entry is held against what was shown already.
 */
import { filesOf, fileSize } from '../protocol/entry-files.ts';
import type { LiveTurn, SessionEvent } from '../protocol/events.ts';
import type { CallId, InboxId } from '../protocol/ids.ts';
import { textOf, toolCallsOf, type CallOutcome, type Entry } from '../protocol/messages.ts';
import { callSummary, outcomeWords } from './call-line.ts';
import { printable, printableLine } from './printable.ts';
import { questionLines } from './question-lines.ts';
import type { Style } from './style.ts';

const callCharsMax = 100;
const eraseLine = '\r\u001b[K';

export interface SessionViewOptions {
  readonly style: Style;
  readonly write: (text: string) => void;
  /** Messages that were typed here are on the screen already. */
  readonly isOwn: (inboxId: InboxId) => boolean;
  /** How wide the terminal is: a line that is to be erased again must not wrap. */
  readonly columns: () => number;
  /** What the conversation is called by now. */
  readonly sessionName?: () => string | null;
}

export class SessionView {
  readonly #options: SessionViewOptions;
  /** The reply text that is on the screen but not yet known to be stored. */
  #draft = '';
  #isDraftVoid = false;
  #isAtLineStart = true;
  /** Calls that are announced, by id; the one whose line is still open may be finished on it. */
  readonly #calls = new Map<CallId, string>();
  #openCall: CallId | null = null;
  /** A line about what is waited for stands at the end, until anything else happens. */
  #isStatusShown = false;

  constructor(options: SessionViewOptions) {
    this.#options = options;
  }

  show(event: SessionEvent): void {
    switch (event.kind) {
      case 'entry':
        return this.#showEntry(event.entry);
      case 'live-state':
        return this.#catchUp(event.turn);
      case 'text-delta':
        return this.#showDelta(event.text);
      case 'draft-cleared':
        this.#isDraftVoid = true;
        return;
      case 'call-started':
        return this.#startCall(event.callId, callSummary(event.name, event.arguments, callCharsMax));
      case 'call-ended':
        return this.#endCall(event.callId, event.outcome);
      case 'trouble':
        return this.#line(this.#options.style.yellow(`! ${printable(event.text)}`));
      case 'status':
        return this.#showStatus(event.text);
      case 'turn-started':
      case 'reasoning-delta':
      case 'call-output':
      case 'turn-ended':
        return this.eraseStatus();
    }
  }

  #showEntry(entry: Entry): void {
    const { style } = this.#options;
    switch (entry.kind) {
      case 'message':
        if (entry.message.role === 'assistant') {
          this.#confirm(textOf(entry.message));
          for (const call of toolCallsOf(entry.message)) {
            this.#calls.set(call.callId, callSummary(call.name, call.arguments, callCharsMax));
          }
        } else if (entry.message.role === 'tool') {
          const [result] = entry.message.parts;
          this.#endCall(result.callId, result.outcome);
          this.#showFiles(entry);
        } else if ('inboxId' in entry) this.#showAsked(entry.inboxId, printable(textOf(entry.message)).trimEnd());
        return;
      case 'notice':
        if (entry.delivery !== undefined) return this.#line(printable(entry.text));
        if (entry.question === undefined) return this.#line(style.yellow(`! ${printable(entry.text)}`));
        return this.#line(questionLines({ ...entry.question, text: entry.text }, style).join('\n'));
      case 'turn-closed':
        this.eraseStatus();
        this.#endLine();
        if (entry.outcome !== 'answered') this.#line(style.dim(`(${entry.outcome})`));
        return;
      case 'rewound':
        return this.#line(style.yellow('! what came before this was taken back'));
      case 'compression':
      case 'head':
      case 'turn-opened':
      case 'titled':
        return;
    }
  }

  #showFiles(entry: Entry): void {
    for (const { name, content, way } of filesOf(entry)) {
      if (way !== 'sent') continue;
      const shown = printableLine(name, callCharsMax);
      const chat = this.#options.sessionName?.() ?? 'NAME';
      const how = `talaria sessions file ${JSON.stringify(chat)} ${JSON.stringify(shown)}`;
      this.#line(this.#options.style.bold(`[file ${shown}, ${fileSize(content.bytes)}: ${how}]`));
    }
  }

  #showAsked(inboxId: InboxId | null, text: string): void {
    const { style } = this.#options;
    if (inboxId === null) this.#line(style.dim(`(told the model: ${text})`));
    else if (!this.#options.isOwn(inboxId)) this.#line(style.bold(`you: ${text}`));
  }

  /** What is going on when we begin to look, or look again. */
  #catchUp(turn: LiveTurn | null): void {
    if (turn === null) return;
    if (turn.text.startsWith(this.#draft)) this.#showDelta(turn.text.slice(this.#draft.length));
    else {
      this.#isDraftVoid = true;
      this.#showDelta(turn.text);
    }
    for (const call of turn.calls) this.#startCall(call.callId, callSummary(call.name, call.arguments, callCharsMax));
    this.#showStatus(turn.status);
  }

  /** Replaces the one before it; nothing is left of it when work goes on. */
  #showStatus(text: string): void {
    this.eraseStatus();
    if (text === '') return;
    this.#endLine();
    this.#options.write(this.#options.style.dim(printableLine(`… ${text}`, this.#options.columns() - 1)));
    this.#isStatusShown = true;
  }

  /** Makes room for what others write; harmless if there is nothing to erase. */
  eraseStatus(): void {
    if (this.#isStatusShown) this.#options.write(eraseLine);
    this.#isStatusShown = false;
  }

  #showDelta(text: string): void {
    if (text === '') return;
    if (this.#isDraftVoid && this.#draft !== '') {
      // What was begun became void before it was stored: the attempt failed, and this is the next one.
      this.#line(this.#options.style.dim('(broken off, trying again)'));
      this.#draft = '';
    }
    this.#isDraftVoid = false;
    this.#leaveCall();
    this.#draft += text;
    this.#write(printable(text));
  }

  /** The reply is stored: completes what was streamed, or shows all of it where nothing fitting was. */
  #confirm(text: string): void {
    if (text.startsWith(this.#draft)) this.#write(printable(text.slice(this.#draft.length)));
    else {
      this.#endLine();
      this.#write(printable(text));
    }
    this.#draft = '';
    this.#isDraftVoid = false;
    this.#endLine();
  }

  #startCall(callId: CallId, summary: string): void {
    if (this.#openCall === callId) return;
    this.#endLine();
    this.#calls.set(callId, summary);
    this.#openCall = callId;
    this.#write(this.#options.style.dim(`▸ ${summary} … `));
  }

  /** Said once: whichever of the live and the stored event comes first. */
  #endCall(callId: CallId, outcome: CallOutcome): void {
    const summary = this.#calls.get(callId);
    if (summary === undefined) return;
    this.#calls.delete(callId);
    const isOnItsLine = this.#openCall === callId;
    const { style } = this.#options;
    if (isOnItsLine) this.#openCall = null;
    else this.#endLine();
    this.#write(style.dim(`${isOnItsLine ? '' : `▸ ${summary} … `}${outcomeWords[outcome]}`));
    this.#endLine();
  }

  #leaveCall(): void {
    if (this.#openCall !== null) this.#endLine();
  }

  #line(text: string): void {
    this.#endLine();
    this.#write(text);
    this.#endLine();
  }

  #endLine(): void {
    this.#openCall = null;
    if (!this.#isAtLineStart) this.#write('\n');
  }

  #write(text: string): void {
    if (text === '') return;
    this.eraseStatus();
    this.#options.write(text);
    this.#isAtLineStart = text.endsWith('\n');
  }
}
