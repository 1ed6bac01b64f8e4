/**
 * The interactive chat on a terminal that only scrolls: a line in, the reply streamed out. Owns the terminal: the
 * prompt, the keys, and where on the screen things go. What is said and to whom is the conversation's.
 */
import { createInterface, type Interface } from 'node:readline';
import type { SessionEvent } from '../protocol/events.ts';
import { runChatCommand, type ChatControl } from './chat-commands.ts';
import { Conversation, type ChatConnection, type ConversationDeps } from './conversation.ts';
import { printable } from './printable.ts';
import { SessionView } from './session-view.ts';
import type { Style } from './style.ts';

export interface ChatOptions extends Pick<ConversationDeps, 'connect' | 'clock' | 'random' | 'ids'> {
  readonly session: { readonly kind: 'new' | 'latest' } | { readonly kind: 'named'; readonly name: string };
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
  readonly style: Style;
  /** Aborting it ends the chat. */
  readonly interrupt: AbortSignal;
}

const prompt = '› ';
const historyLinesMax = 500;
const clearLine = '\r\u001b[K';

/** Resolves when the user leaves. Throws if Talaria can't be reached. */
export async function runChat(options: ChatOptions): Promise<void> {
  const chat = new Chat(options, await options.connect());
  try {
    await chat.begin();
    await chat.untilLeft();
  } finally {
    await chat.end();
  }
}

class Chat implements ChatControl {
  readonly style: Style;
  readonly conversation: Conversation;
  readonly #options: ChatOptions;
  readonly #lines: Interface;
  readonly #view: SessionView;
  readonly #left = Promise.withResolvers<void>();
  #isPromptShown = false;
  #isOver = false;
  /** A first Ctrl-C was pressed and nothing else since. */
  #isLeaving = false;
  /** Lines are worked off one after the other, in the order they were typed. */
  #work: Promise<void> = Promise.resolve();

  constructor(options: ChatOptions, connection: ChatConnection) {
    this.#options = options;
    this.style = options.style;
    const { input, output } = options;
    this.#lines = createInterface({ input, output, prompt, historySize: historyLinesMax, terminal: true });
    // It may be lost before anybody waits for its end.
    this.#left.promise.catch(() => {});
    const callbacks = {
      onEvent: (event: SessionEvent) => this.#onEvent(event),
      onNote: (text: string) => this.say(this.style.yellow(`! ${printable(text)}`)),
      onLost: (error: unknown) => this.#left.reject(error),
    };
    this.conversation = new Conversation({ ...options, ...callbacks }, connection);
    this.#view = new SessionView({
      style: this.style,
      write: (text) => this.#write(text),
      isOwn: (inboxId) => this.conversation.isOwn(inboxId),
    });
  }

  async begin(): Promise<void> {
    const { session, interrupt } = this.#options;
    const { conversation, style } = this;
    const { model, version } = await conversation.api.status();
    if (session.kind === 'named') await conversation.enter(session.name);
    if (session.kind === 'latest') {
      await conversation.enter((await conversation.api.sessions({ limit: 1 }))[0]?.name ?? null);
    }
    const place = conversation.name === null ? 'a new session' : `session ${conversation.name}`;
    const rehearsal = model.provider === 'offline' ? ' (a rehearsal, no AI)' : '';
    this.say(`${style.bold(`Talaria ${version}`)} · ${place} · ${model.provider} ${model.name}${rehearsal}`);
    this.say(style.dim('/help shows the commands, Ctrl-C stops a reply, Ctrl-D leaves.'));
    this.#lines.on('line', (line) => this.#take(line));
    this.#lines.on('SIGINT', () => this.#onCtrlC());
    this.#lines.on('close', () => this.leave());
    if (interrupt.aborted) this.leave();
    interrupt.addEventListener('abort', () => this.leave(), { once: true });
    this.#showPrompt();
  }

  untilLeft(): Promise<void> {
    return this.#left.promise;
  }

  leave(): void {
    this.#isOver = true;
    this.#left.resolve();
  }

  async end(): Promise<void> {
    this.#isOver = true;
    if (this.#isPromptShown) this.#options.output.write('\n');
    this.#lines.close();
    await this.conversation.close();
  }

  say(text: string): void {
    this.#write(`${text}\n`);
  }

  /** Output replaces the prompt; it is shown again when there is nothing more to say. */
  #write(text: string): void {
    if (this.#isPromptShown) this.#options.output.write(clearLine);
    this.#isPromptShown = false;
    this.#options.output.write(text);
  }

  #take(line: string): void {
    this.#isPromptShown = false;
    this.#isLeaving = false;
    const text = line.trim();
    this.#work = this.#work
      .then(() => (text.startsWith('/') ? runChatCommand(this, text) : this.#send(text)))
      .catch((error: unknown) => this.#complain(error))
      .then(() => this.#showPrompt());
  }

  async #send(text: string): Promise<void> {
    if (text !== '') await this.conversation.send(text);
  }

  #onEvent(event: SessionEvent): void {
    this.#view.show(event);
    if (event.kind !== 'entry' || event.entry.kind !== 'turn-closed') return;
    this.#isLeaving = false;
    this.#showPrompt();
  }

  /** Once: stops the reply, or drops what was typed. Twice in a row: leaves. */
  #onCtrlC(): void {
    if (this.#isLeaving) return this.leave();
    this.#isLeaving = true;
    if (this.conversation.isBusy) {
      this.conversation.stop().catch((error: unknown) => this.#complain(error));
      return;
    }
    this.#lines.write(null, { ctrl: true, name: 'e' });
    this.#lines.write(null, { ctrl: true, name: 'u' });
    this.say(this.style.dim('(Ctrl-C once more, or Ctrl-D, leaves)'));
    this.#showPrompt();
  }

  #complain(error: unknown): void {
    this.say(this.style.yellow(`! ${printable(error instanceof Error ? error.message : String(error))}`));
  }

  #showPrompt(): void {
    if (this.#isOver || this.conversation.isBusy) return;
    this.#lines.prompt(true);
    this.#isPromptShown = true;
  }
}
