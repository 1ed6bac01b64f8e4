/**
 * Follows one session through all restarts, as a front end does: from the last entry it saw. What it was shown is
 * remembered, to be compared with what is stored in the end.
 */
import { request, type IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { createParser } from 'eventsource-parser';
import type { SessionEvent } from '../../src/protocol/events.ts';
import { textOf, type Entry } from '../../src/protocol/messages.ts';

const againMs = 10;

export class Follower {
  readonly session: string;
  readonly shown: Entry[] = [];
  readonly problems: string[] = [];
  readonly #onEvent: (event: SessionEvent) => void;
  readonly #turnOf = new Map<string, string>();
  readonly #closed = new Set<string>();
  readonly #waiting = new Set<() => void>();
  readonly #ending = new AbortController();
  readonly #done: Promise<void>;

  constructor(session: string, url: () => Promise<string>, onEvent: (event: SessionEvent) => void) {
    this.session = session;
    this.#onEvent = onEvent;
    this.#done = this.#follow(url).catch((error: unknown) => {
      if (!this.#ending.signal.aborted) this.problems.push(`following ${session}: ${String(error)}`);
    });
  }

  /** Resolves once the turn of this message is closed. */
  settled(inboxId: string, signal: AbortSignal): Promise<void> {
    return this.#when(() => this.#closed.has(this.#turnOf.get(inboxId) ?? ''), signal);
  }

  /** Resolves once this message is part of a turn. */
  promoted(inboxId: string, signal: AbortSignal): Promise<void> {
    return this.#when(() => this.#turnOf.has(inboxId), signal);
  }

  /** The id of the message with these words, as soon as it is part of a turn. */
  async inboxIdOf(words: string, signal: AbortSignal): Promise<string> {
    const find = () => {
      for (const entry of this.shown) {
        if (entry.kind !== 'message' || entry.message.role !== 'user' || textOf(entry.message).trim() !== words)
          continue;
        if ('inboxId' in entry && entry.inboxId !== null) return entry.inboxId;
      }
      return null;
    };
    await this.#when(() => find() !== null, signal);
    return find() ?? '';
  }

  async end(): Promise<void> {
    this.#ending.abort();
    await this.#done;
  }

  #when(isSo: () => boolean, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const look = () => {
        if (!isSo() && !signal.aborted) return;
        this.#waiting.delete(look);
        signal.removeEventListener('abort', look);
        if (isSo()) resolve();
        else reject(signal.reason as Error);
      };
      this.#waiting.add(look);
      signal.addEventListener('abort', look);
      look();
    });
  }

  async #follow(url: () => Promise<string>): Promise<void> {
    const { signal } = this.#ending;
    while (!signal.aborted) {
      const ended = new Promise<never>((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(new Error('ended')), { once: true });
      });
      ended.catch(() => {});
      const base = await Promise.race([url(), ended]);
      await this.#listen(`${base}/api/sessions/${this.session}/events?after=${this.shown.length}`);
      await sleep(againMs, undefined, { signal });
    }
  }

  /** Until the stream breaks, for whatever reason. */
  async #listen(url: string): Promise<void> {
    try {
      const incoming = await new Promise<IncomingMessage>((resolve, reject) => {
        request(url, { agent: false, signal: this.#ending.signal }, resolve).on('error', reject).end();
      });
      // Not there yet, or not any more.
      if (incoming.statusCode !== 200) return void incoming.destroy();
      const parser = createParser({ onEvent: ({ data }) => this.#take(JSON.parse(data) as SessionEvent) });
      for await (const chunk of incoming) parser.feed(String(chunk));
    } catch {
      // The gateway died.
    }
  }

  #take(event: SessionEvent): void {
    if (event.kind === 'entry') this.#remember(event.entry);
    this.#onEvent(event);
    for (const look of this.#waiting) look();
  }

  #remember(entry: Entry): void {
    if (entry.seq !== this.shown.length + 1) {
      this.problems.push(`${this.session} showed entry ${entry.seq} after ${this.shown.length}`);
      return;
    }
    this.shown.push(entry);
    if (entry.kind === 'message' && 'inboxId' in entry && entry.inboxId !== null && entry.turnId !== null) {
      this.#turnOf.set(entry.inboxId, entry.turnId);
    }
    if (entry.turnId === null) return;
    if (entry.kind === 'turn-closed') this.#closed.add(entry.turnId);
    // A parked turn that is tried again.
    if (entry.kind === 'turn-opened') this.#closed.delete(entry.turnId);
  }
}
