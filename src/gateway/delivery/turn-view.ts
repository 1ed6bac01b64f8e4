/**
 * What people are shown of a running turn: the answer as far as it is written, and a line about what goes on. Holds no
 * more of the answer than can be shown.
 */
import type { SessionEvent } from '../../protocol/events.ts';
import type { CallId } from '../../protocol/ids.ts';
import { textOf } from '../../protocol/messages.ts';
import { beatAfterMs, beatMinMs, callInWords, progressLine, type Progress } from '../progress-line.ts';
import { draftBody, draftCharsMax, draftText, type DraftRoom } from './draft-text.ts';

export interface Picture {
  readonly text: string;
  /** The same as long as nothing changed but the time. */
  readonly gist: string;
  /** When to look again although nothing changed. */
  readonly beatMs: number;
}

export class TurnView {
  /** Of the model call under way. */
  #text = '';
  /** Of the call before it: it stands until there is something newer. */
  #said = '';
  #lastAnswer = '';
  #status = '';
  readonly #calls = new Map<CallId, Progress>();
  /** Since when there is nothing to show. */
  #quietSince: number;

  constructor(now: number) {
    this.#quietSince = now;
  }

  /** The model's last whole answer; empty if it has given none, or one without words. */
  get lastAnswer(): string {
    return this.#lastAnswer;
  }

  answered(text: string): void {
    this.#lastAnswer = text.slice(0, draftCharsMax);
    if (text.trim() !== '') this.#said = this.#lastAnswer;
  }

  /** Whether it changes what is shown. */
  see(event: SessionEvent, now: number): boolean {
    switch (event.kind) {
      case 'text-delta':
        // Whatever it was waiting for is here.
        this.#status = '';
        if (this.#text.length >= draftCharsMax) return false;
        this.#text = (this.#text + event.text).slice(0, draftCharsMax);
        return true;
      case 'draft-cleared':
        this.#text = '';
        this.#quietSince = now;
        return true;
      case 'call-started':
        this.#calls.set(event.callId, { words: callInWords(event), since: now });
        return true;
      case 'call-ended':
        this.#quietSince = now;
        return this.#calls.delete(event.callId);
      case 'status':
      case 'trouble':
        if (this.#status === event.text) return false;
        this.#status = event.text;
        return true;
      case 'entry': {
        const { entry } = event;
        if (entry.kind === 'message' && entry.message.role === 'assistant') this.answered(textOf(entry.message));
        // What asks a person is not at work meanwhile.
        else if (entry.kind === 'notice' && entry.question !== undefined) this.#calls.delete(entry.question.callId);
        else return false;
        return true;
      }
      case 'turn-started':
        // The run before it did not end well: what it was about to do is done anew.
        this.#text = '';
        this.#status = '';
        this.#calls.clear();
        this.#quietSince = now;
        return true;
      case 'reasoning-delta': {
        const hadStatus = this.#status !== '';
        this.#status = '';
        return hadStatus;
      }
      case 'live-state':
      case 'turn-ended':
      case 'call-output':
        return false;
    }
  }

  /** `hasDraft`: whether something stands there that had better not be left empty. */
  picture(room: DraftRoom, now: number, hasDraft: boolean): Picture {
    const progress = this.#progress(now, hasDraft);
    const body = draftBody(this.#text.trim() === '' ? this.#said : this.#text, room);
    const elapsedMs = progress.since === null ? 0 : now - progress.since;
    return {
      text: draftText(body, progressLine(progress, now, room.lineMax)),
      gist: draftText(body, progress.words),
      beatMs: beatAfterMs(elapsedMs),
    };
  }

  #progress(now: number, hasDraft: boolean): Progress {
    if (this.#status !== '') return { words: this.#status, since: null };
    const [first, ...others] = this.#calls.values();
    if (first !== undefined)
      return others.length === 0 ? first : { ...first, words: `${first.words} (+${others.length})` };
    const isQuiet = this.#text.trim() === '' && (hasDraft || now - this.#quietSince >= beatMinMs);
    return { words: isQuiet ? 'thinking' : '', since: this.#quietSince };
  }
}
