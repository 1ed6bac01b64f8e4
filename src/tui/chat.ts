/**
 * The interactive chat on a terminal that only scrolls: a line in, the reply streamed out. Owns the terminal: the
 * prompt, the keys, and where on the screen things go. What is said and to whom is the conversation's.
 */
import type { Clock } from '../lib/clock.ts';
import type { SessionSummary } from '../protocol/api.ts';
import type { SessionEvent } from '../protocol/events.ts';
import { answerByLine, showQuestion } from './answer-question.ts';
import { runChatCommand } from './chat-commands.ts';
import type { ChatControl } from './chat-control.ts';
import { Conversation, type ChatConnection, type ConversationDeps } from './conversation.ts';
import { LineEditor } from './line-editor.ts';
import { modelWords } from './model-words.ts';
import { printable } from './printable.ts';
import { SessionView } from './session-view.ts';
import type { Style } from './style.ts';

export interface ChatOptions extends Pick<ConversationDeps, 'connect' | 'clock' | 'random' | 'ids'> {
  readonly session: { readonly kind: 'new' | 'latest' } | { readonly kind: 'named'; readonly name: string };
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
  readonly style: Style;
  /** The terminal knows no control sequences. */
  readonly isDumb: boolean;
  /** Aborting it ends the chat. */
  readonly interrupt: AbortSignal;
}

const prompt = '› ';
/** While a question waits. */
const answerPrompt = '? ';
const columnsOtherwise = 80;

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
  readonly clock: Clock;
  readonly conversation: Conversation;
  readonly #options: ChatOptions;
  readonly #editor: LineEditor;
  readonly #view: SessionView;
  readonly #left = Promise.withResolvers<void>();
  #isPromptShown = false;
  #isOver = false;
  /** A first Ctrl-C was pressed and nothing else since. */
  #isLeaving = false;
  readonly #begun = Promise.withResolvers<void>();
  /** Texts are worked off one after the other, in the order they were typed; early ones when it is known where to. */
  #work: Promise<void> = this.#begun.promise;
  /** Takes the next line as an answer to a question of the chat's own. */
  #onConfirmed: ((isYes: boolean) => void) | null = null;

  constructor(options: ChatOptions, connection: ChatConnection) {
    this.#options = options;
    this.style = options.style;
    this.clock = options.clock;
    const { input, output, isDumb } = options;
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
      sessionName: () => this.conversation.name,
      columns: () => ('columns' in output && typeof output.columns === 'number' ? output.columns : columnsOtherwise),
    });
    this.#editor = new LineEditor({
      input,
      output,
      isDumb,
      onText: (text) => this.#take(text),
      onKey: () => this.#view.eraseStatus(),
      onCtrlC: () => this.#onCtrlC(),
      onClose: () => this.leave(),
    });
  }

  async begin(): Promise<void> {
    const { session, interrupt } = this.#options;
    const { conversation, style } = this;
    const { model, version } = await conversation.api.status();
    const summary = await this.#chosenSession();
    const name = session.kind === 'named' ? session.name : (summary?.name ?? null);
    if (name !== null) await conversation.enter(name);
    // Said without a pause after that: what happens in the session comes below it.
    const place = name === null ? 'a new session' : `session ${name}`;
    const chosen = summary?.settings.model ?? null;
    const rehearsal = model.provider === 'offline' ? ' (a rehearsal, no AI)' : '';
    const who = chosen === null ? `${modelWords(model)}${rehearsal}` : printable(chosen);
    this.say(`${style.bold(`Talaria ${version}`)} · ${place} · ${who}`);
    this.say(style.dim('/help shows the commands, Ctrl-C stops a reply, Ctrl-D leaves.'));
    showQuestion(this);
    if (interrupt.aborted) this.leave();
    interrupt.addEventListener('abort', () => this.leave(), { once: true });
    this.#begun.resolve();
    this.#showPrompt();
  }

  async #chosenSession(): Promise<SessionSummary | null> {
    const { api } = this.conversation;
    const { session } = this.#options;
    if (session.kind === 'named') return api.session(session.name);
    return session.kind === 'latest' ? ((await api.sessions({ limit: 1 }))[0] ?? null) : null;
  }

  untilLeft(): Promise<void> {
    return this.#left.promise;
  }

  leave(): void {
    this.#isOver = true;
    this.#confirmed(false);
    this.#left.resolve();
  }

  async end(): Promise<void> {
    this.#isOver = true;
    if (this.#isPromptShown) this.#options.output.write('\n');
    this.#editor.close();
    await this.conversation.close();
  }

  say(text: string): void {
    this.#view.eraseStatus();
    this.#write(`${text}\n`);
  }

  confirm(question: string): Promise<boolean> {
    return new Promise((resolve) => {
      this.#onConfirmed = resolve;
      this.#prompt(`${question} [y/N] `);
    });
  }

  #confirmed(isYes: boolean): void {
    const resolve = this.#onConfirmed;
    this.#onConfirmed = null;
    resolve?.(isYes);
  }

  /** Output replaces the prompt; it is shown again when there is nothing more to say. */
  #write(text: string): void {
    if (this.#isPromptShown) this.#editor.wipe();
    this.#isPromptShown = false;
    this.#options.output.write(text);
  }

  #take(typed: string): void {
    this.#isPromptShown = false;
    this.#isLeaving = false;
    const text = typed.trim();
    // What asks waits inside the work, so its answer can't be queued behind it.
    if (this.#onConfirmed !== null) return this.#confirmed(/^y(es)?$/i.test(text));
    this.#work = this.#work
      .then(() => (text.startsWith('/') ? runChatCommand(this, text) : this.#send(text)))
      .catch((error: unknown) => this.#complain(error))
      .then(() => this.#showPrompt());
  }

  async #send(text: string): Promise<void> {
    if (text === '' || (await answerByLine(this, text))) return;
    await this.conversation.send(text);
  }

  #onEvent(event: SessionEvent): void {
    // A line that comes and goes must not take what is being typed with it.
    if (event.kind === 'status' && (this.#options.isDumb || this.#editor.hasText)) return;
    this.#view.show(event);
    const isClosed = event.kind === 'entry' && event.entry.kind === 'turn-closed';
    const notice = event.kind === 'entry' && event.entry.kind === 'notice' ? event.entry : null;
    const isAsked = notice?.question !== undefined;
    const isAnswered = notice?.delivery !== undefined;
    if (isClosed) this.#isLeaving = false;
    // With the turn's live end too, unless the prompt stands there already.
    if (isClosed || isAsked || isAnswered || (event.kind === 'turn-ended' && !this.#isPromptShown)) this.#showPrompt();
  }

  /** Once: stops the reply, or drops what was typed. Twice in a row: leaves. */
  #onCtrlC(): void {
    if (this.#onConfirmed !== null) {
      this.say('');
      return this.#confirmed(false);
    }
    if (this.#isLeaving) return this.leave();
    this.#isLeaving = true;
    if (this.conversation.isBusy) {
      this.conversation.stop().catch((error: unknown) => this.#complain(error));
      return;
    }
    this.#editor.drop();
    this.say(this.style.dim('(Ctrl-C once more, or Ctrl-D, leaves)'));
    this.#showPrompt();
  }

  #complain(error: unknown): void {
    this.say(this.style.yellow(`! ${printable(error instanceof Error ? error.message : String(error))}`));
  }

  #showPrompt(): void {
    const isAsked = this.conversation.question !== null;
    if (this.#isOver || this.#onConfirmed !== null || (this.conversation.isBusy && !isAsked)) return;
    this.#prompt(isAsked ? answerPrompt : prompt);
  }

  #prompt(text: string): void {
    this.#editor.show(text);
    this.#isPromptShown = true;
  }
}
