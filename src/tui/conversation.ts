/**
 * One person's end of a session: sends messages, follows what happens, and gets over the death of the gateway. On a
 * broken connection it connects anew, sends what is unanswered again (the external id makes it the same message) and
 * follows the log from the last entry seen. Keeps nothing that is not stored. How things look is told elsewhere.
 */
import { sleep, type Clock } from '../lib/clock.ts';
import type { IdSource } from '../lib/ids.ts';
import type { RandomSource } from '../lib/random.ts';
import { retryDelayMs, type RetryPolicy } from '../lib/retry.ts';
import { ApiError, type TalariaApi } from '../protocol/api.ts';
import type { SessionEvent } from '../protocol/events.ts';
import type { InboxId, TurnId } from '../protocol/ids.ts';
import {
  isWaiting,
  openQuestions,
  questionsAfter,
  withoutCall,
  type AskedQuestion,
  type OpenQuestions,
} from './open-questions.ts';

export interface ChatConnection {
  readonly api: TalariaApi;
  close(): Promise<void>;
}

export interface ConversationDeps {
  /** Throws if Talaria can't be reached. */
  readonly connect: () => Promise<ChatConnection>;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly ids: IdSource;
  /** Every durable event once and in order; live ones as they come. Called after the conversation has learnt from it. */
  readonly onEvent: (event: SessionEvent) => void;
  readonly onNote: (text: string) => void;
  /** It can't go on: the last word on the connection. */
  readonly onLost: (error: unknown) => void;
}

const reconnects: RetryPolicy = { attemptsMax: 5, firstDelayMs: 250, delayMaxMs: 8_000 };

interface Unanswered {
  readonly text: string;
  readonly externalId: string;
  inboxId: InboxId | null;
  turnId: TurnId | null;
}

export class Conversation {
  readonly #deps: ConversationDeps;
  #connection: ChatConnection;
  #following = new AbortController();
  /** Null until the first message of a new conversation has given it a name. */
  #name: string | null = null;
  #isFollowed = false;
  #lastSeq = 0;
  #unanswered: Unanswered[] = [];
  readonly #sent = new Set<InboxId>();
  #isRunning = false;
  #questions: OpenQuestions = [];

  constructor(deps: ConversationDeps, connection: ChatConnection) {
    this.#deps = deps;
    this.#connection = connection;
  }

  get api(): TalariaApi {
    return this.#connection.api;
  }

  get name(): string | null {
    return this.#name;
  }

  /** A reply is on its way. */
  get isBusy(): boolean {
    return this.#isRunning || this.#unanswered.length > 0;
  }

  /** The newest question that waits for a person. */
  get question(): AskedQuestion | null {
    const now = this.#deps.clock.now();
    return this.#questions.findLast((question) => isWaiting(question, now)) ?? null;
  }

  /** Whether this message was sent from here. */
  isOwn(inboxId: InboxId): boolean {
    return this.#sent.has(inboxId);
  }

  /** Goes on with a session from its present end; null: the next message begins a new one. */
  async enter(name: string | null): Promise<void> {
    const summary = name === null ? null : await this.api.session(name);
    const questions = summary === null ? [] : await openQuestions(this.api, summary);
    this.#following.abort();
    this.#following = new AbortController();
    this.#unanswered = [];
    this.#isRunning = false;
    this.#questions = questions;
    this.#isFollowed = false;
    this.#name = name;
    this.#lastSeq = summary?.lastSeq ?? 0;
    // A name that does not exist yet is one to create, with the first message.
    if (summary !== null) this.#follow();
  }

  /** Resolves once the message is stored, or will be sent again after a reconnect. Throws if it is refused. */
  async send(text: string): Promise<void> {
    const message: Unanswered = { text, externalId: this.#deps.ids.next('ask'), inboxId: null, turnId: null };
    this.#unanswered.push(message);
    try {
      await this.#deliver(message);
      if (!this.#isFollowed) this.#follow();
    } catch (error) {
      if (!isBroken(error)) {
        this.#unanswered = this.#unanswered.filter((other) => other !== message);
        throw error;
      }
      // The stream notices too and reconnects; a first message has no stream yet.
      if (!this.#isFollowed) await this.#reconnect(this.#following.signal);
    }
  }

  /**
   * A command of the chat that the terminal has none of its own for. What it says comes with the log; returned is what no
   * log can hold, or null.
   */
  async command(line: string): Promise<string | null> {
    const before = this.#name;
    const externalId = this.#deps.ids.next('ask');
    const receipt = await this.api.say({ session: before, text: line, externalId, channel: 'cli' });
    if (receipt.kind === 'message') {
      this.#unanswered.push({ text: line, externalId, inboxId: receipt.inboxId, turnId: null });
      this.#sent.add(receipt.inboxId);
      this.#name = receipt.sessionName;
      if (!this.#isFollowed) this.#follow();
      return null;
    }
    if (receipt.session !== before) await this.enter(receipt.session);
    return receipt.text;
  }

  /** Answers a question; false if it does not wait any more. */
  async answer(question: AskedQuestion, text: string): Promise<boolean> {
    if (this.#name === null) return false;
    const isTaken = await this.api.answer(this.#name, question.callId, text);
    // Whether it was taken or had an answer already: it is not to be asked again.
    this.#questions = withoutCall(this.#questions, question.callId);
    return isTaken;
  }

  /** False if nothing is running. */
  async stop(): Promise<boolean> {
    return this.#name !== null && this.isBusy ? this.api.stop(this.#name) : false;
  }

  async close(): Promise<void> {
    this.#following.abort();
    await this.#connection.close();
  }

  async #deliver(message: Unanswered): Promise<void> {
    const { text, externalId } = message;
    const receipt = await this.api.send({ session: this.#name, text, externalId, channel: 'cli' });
    message.inboxId = receipt.inboxId;
    this.#sent.add(receipt.inboxId);
    this.#name = receipt.sessionName;
  }

  #follow(): void {
    const { signal } = this.#following;
    this.#isFollowed = true;
    this.#read(signal).catch((error: unknown) => {
      if (!signal.aborted) this.#deps.onLost(error);
    });
  }

  async #read(signal: AbortSignal): Promise<void> {
    while (!signal.aborted && this.#name !== null) {
      try {
        for await (const event of this.api.events(this.#name, this.#lastSeq, signal)) {
          if (signal.aborted) return;
          this.#learn(event);
        }
      } catch (error) {
        if (!isBroken(error)) throw error;
        await this.#reconnect(signal);
      }
    }
  }

  #learn(event: SessionEvent): void {
    if (event.kind === 'live-state') this.#isRunning = event.turn !== null;
    if (event.kind === 'turn-started') this.#isRunning = true;
    // Who comes between the stored and the live end of a turn is still told that it goes on.
    if (event.kind === 'turn-ended') this.#isRunning = false;
    if (event.kind === 'entry') {
      const { entry } = event;
      if (entry.seq <= this.#lastSeq) return;
      this.#lastSeq = entry.seq;
      this.#questions = questionsAfter(this.#questions, entry);
      const own = 'inboxId' in entry ? this.#unanswered.find((one) => one.inboxId === entry.inboxId) : undefined;
      if (own !== undefined) own.turnId = entry.turnId;
      if (entry.kind === 'turn-closed') {
        this.#isRunning = false;
        this.#unanswered = this.#unanswered.filter((one) => one.turnId === null || one.turnId !== entry.turnId);
      }
    }
    this.#deps.onEvent(event);
  }

  async #reconnect(signal: AbortSignal): Promise<void> {
    this.#deps.onNote('the connection broke; connecting again');
    for (let failures = 1; ; failures++) {
      await this.#connection.close();
      await sleep(this.#deps.clock, retryDelayMs(reconnects, failures, this.#deps.random), signal);
      try {
        this.#connection = await this.#deps.connect();
        for (const message of this.#unanswered) await this.#deliver(message);
        break;
      } catch (error) {
        if (failures >= reconnects.attemptsMax) throw error;
      }
    }
    this.#deps.onNote('connected again');
    if (!this.#isFollowed && this.#name !== null) this.#follow();
  }
}

function isBroken(error: unknown): boolean {
  return error instanceof ApiError && (error.reason === 'unreachable' || error.reason === 'draining');
}
