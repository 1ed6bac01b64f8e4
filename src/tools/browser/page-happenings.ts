/**
 * What goes on in pages while nobody asks: dialogs, console messages, crashes. Dialogs never wait for anybody: a question of a
 * page is answered with no, unless the running call said yes.
 */
import type { Dialog, Page } from 'playwright-core';

const consoleMessagesMax = 100;
const consoleCharsMax = 500;
const notesMax = 20;

/** A yes to every dialog; the text is for this page alone, as long as it shows this site. */
export interface DialogAnswer {
  readonly text: string;
  readonly page: Page;
  readonly origin: string;
}

export interface PageHappenings {
  readonly watch: (page: Page) => void;
  readonly note: (text: string) => void;
  /** What happened since the last time, for the model. */
  readonly takeNotes: () => string[];
  /** What the page printed, the newest last. */
  readonly printed: (page: Page) => readonly string[];
  /** How the running call wants dialogs to be answered; null: with no. */
  readonly answerDialogs: (answer: DialogAnswer | null) => void;
  readonly hasCrashed: (page: Page) => boolean;
}

export function createPageHappenings(): PageHappenings {
  const printed = new WeakMap<Page, string[]>();
  const crashed = new WeakSet<Page>();
  let notes: string[] = [];
  let answer: DialogAnswer | null = null;
  const note = (text: string): void => {
    if (notes.length < notesMax && notes.at(-1) !== text) notes.push(text);
  };
  const print = (page: Page, text: string): void => {
    const lines = printed.get(page) ?? [];
    lines.push(text.slice(0, consoleCharsMax).toWellFormed());
    if (lines.length > consoleMessagesMax) lines.shift();
    printed.set(page, lines);
  };
  return {
    note,
    hasCrashed: (page) => crashed.has(page),
    printed: (page) => printed.get(page) ?? [],
    answerDialogs: (given) => void (answer = given),
    takeNotes() {
      const taken = notes;
      notes = [];
      return taken;
    },
    watch(page) {
      page.on('dialog', (dialog) => void answerDialog(dialog, answer, note));
      page.on('console', (message) => print(page, `${message.type()}: ${message.text()}`));
      page.on('pageerror', (error) =>
        print(page, `uncaught: ${error instanceof Error ? error.message : String(error)}`),
      );
      page.on('requestfailed', (request) =>
        print(page, `failed: ${request.method()} ${request.url().slice(0, 200)} ${request.failure()?.errorText ?? ''}`),
      );
      page.on('crash', () => {
        crashed.add(page);
        note('The page crashed; its tab was closed.');
      });
    },
  };
}

async function answerDialog(dialog: Dialog, answer: DialogAnswer | null, note: (text: string) => void): Promise<void> {
  const type = dialog.type();
  const isYes = type === 'alert' || type === 'beforeunload' || answer !== null;
  const words = JSON.stringify(dialog.message().slice(0, 300).toWellFormed());
  if (type !== 'beforeunload') {
    const said = type === 'alert' ? 'closed' : isYes ? 'answered with yes' : 'answered with no (accept: true says yes)';
    note(`The page showed a dialog (${type}) ${words}; it was ${said}.`);
  }
  try {
    if (isYes) await dialog.accept(type === 'prompt' ? textFor(dialog.page(), answer) : undefined);
    else await dialog.dismiss();
  } catch {
    // Gone with its page.
  }
}

/** What was meant for one site is not told to another that came in its place. */
function textFor(page: Page | null, answer: DialogAnswer | null): string {
  const isMeant = answer !== null && page === answer.page && originOf(page.url()) === answer.origin;
  return isMeant ? answer.text : '';
}

export function originOf(url: string): string {
  return URL.parse(url)?.origin ?? '';
}
