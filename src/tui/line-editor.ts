/**
 * The text that is being typed. Node's editor of one line, and what it leaves to others: a pasted text of several lines
 * is one text (bracketed paste), a line that ends in a backslash goes on in the next one, a line that is wider than the
 * terminal is redrawn and wiped as a whole, and after Ctrl-Z and `fg` the keys are heard again.
 */
import { clearScreenDown, createInterface, cursorTo, moveCursor, type Interface, type Key } from 'node:readline';

export interface LineEditorOptions {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
  /** The terminal knows no control sequences (`TERM=dumb`). */
  readonly isDumb: boolean;
  /** A text was ended with Enter. */
  readonly onText: (text: string) => void;
  /** Before the key is shown. */
  readonly onKey: () => void;
  readonly onCtrlC: () => void;
  readonly onClose: () => void;
}

const historyLinesMax = 500;
const pasteOn = '\u001b[?2004h';
const pasteOff = '\u001b[?2004l';
/** Before the second and every further line of one text. */
const continuation = '… ';
/** Measuring a line takes as long as it is long: beyond this, not at every letter. */
const measuredCharsMax = 1_000;

export class LineEditor {
  readonly #options: LineEditorOptions;
  /** `prevRows`: how many rows above the cursor the line begins; Node counts them only when it redraws. */
  readonly #lines: Interface & { prevRows?: number };
  /** The lines before the one that is being typed. */
  #held: string[] = [];
  #isPasting = false;

  constructor(options: LineEditorOptions) {
    const { input, output, isDumb } = options;
    this.#options = options;
    this.#lines = createInterface({ input, output, historySize: historyLinesMax, terminal: true });
    this.#lines.on('line', (line) => this.#take(line));
    this.#lines.on('SIGINT', options.onCtrlC);
    this.#lines.on('close', options.onClose);
    this.#lines.on('SIGCONT', () => this.#goOn());
    input.prependListener('keypress', (char: string | undefined, key: Key) => this.#onKey(char, key));
    if (!isDumb) output.write(pasteOn);
  }

  /** Something stands there that was not sent yet. */
  get hasText(): boolean {
    return this.#lines.line !== '' || this.#held.length > 0;
  }

  show(prompt: string): void {
    this.#lines.setPrompt(this.#held.length > 0 ? continuation : prompt);
    this.#lines.prompt(true);
  }

  /** Takes prompt and line off the screen, for something else to stand there; both come back with `show`. */
  wipe(): void {
    const { output, isDumb } = this.#options;
    if (isDumb) return void output.write('\n');
    this.#measure();
    moveCursor(output, 0, -(this.#lines.prevRows ?? 0));
    cursorTo(output, 0);
    clearScreenDown(output);
    this.#lines.prevRows = 0;
  }

  /** Forgets what was typed. */
  drop(): void {
    this.#held = [];
    this.#lines.write(null, { ctrl: true, name: 'e' });
    this.#lines.write(null, { ctrl: true, name: 'u' });
  }

  close(): void {
    if (!this.#options.isDumb) this.#options.output.write(pasteOff);
    this.#lines.close();
  }

  #take(line: string): void {
    const goesOn = !this.#isPasting && line.endsWith('\\');
    if (this.#isPasting || goesOn) {
      this.#held.push(goesOn ? line.slice(0, -1) : line);
      return this.show(continuation);
    }
    const text = [...this.#held, line].join('\n');
    this.#held = [];
    this.#options.onText(text);
  }

  #onKey(char: string | undefined, { name, ctrl = false }: Key): void {
    if (name === 'paste-start') this.#isPasting = true;
    if (name === 'paste-end') this.#isPasting = false;
    // Whoever has the terminal next may not know what it means.
    if (name === 'z' && ctrl && !this.#options.isDumb) this.#options.output.write(pasteOff);
    this.#options.onKey();
    const isLetter = char !== undefined && char >= ' ' && !ctrl;
    if (!isLetter || (!this.#isPasting && this.#lines.line.length < measuredCharsMax)) this.#measure();
  }

  #measure(): void {
    this.#lines.prevRows = this.#lines.getCursorPos().rows;
  }

  /** Node stops listening when it is stopped, and leaves going on to its user. */
  #goOn(): void {
    if (!this.#options.isDumb) this.#options.output.write(pasteOn);
    this.#lines.prevRows = 0;
    this.#lines.resume();
  }
}
