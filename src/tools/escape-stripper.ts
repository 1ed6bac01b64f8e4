/**
 * Takes terminal control out of what a program prints: escape sequences (colours, cursor, titles, links) and control
 * characters. Of these only newline, tab, backspace and a lone carriage return remain; what those do to a line is the
 * line folder's business. A sequence that never ends gives the text back after a limit instead of swallowing it all.
 */
import type { TextFilter } from './text-filter.ts';

/** Longer than any sequence a program means; what follows is shown as text. */
const sequenceCharsMax = 4_096;

type State = 'text' | 'escape' | 'intermediate' | 'control' | 'string' | 'string-escape';

export function createEscapeStripper(): TextFilter {
  // Every control character but tab and newline.
  const special = /[^\P{Cc}\t\n]/gu;
  let state: State = 'text';
  let sequenceChars = 0;
  let returnHeld = false;
  let clean = '';

  const emit = (text: string) => {
    if (text === '') return;
    if (returnHeld) {
      returnHeld = false;
      // A return before a newline belongs to it.
      if (!text.startsWith('\n')) clean += '\r';
    }
    clean += text;
  };

  /** Copies up to the next special character and handles that one; returns where to go on. */
  const passText = (text: string, from: number): number => {
    special.lastIndex = from;
    const found = special.exec(text)?.index ?? text.length;
    emit(text.slice(from, found));
    const character = text[found];
    if (character === '\r') returnHeld = true;
    else if (character === '\b') emit('\b');
    else if (character === '\u001b') {
      state = 'escape';
      sequenceChars = 0;
    } else if (character !== undefined) return endOfRun(text, found);
    return found + 1;
  };

  return {
    push(text) {
      clean = '';
      for (let position = 0; position < text.length;) {
        if (state === 'text') {
          position = passText(text, position);
          continue;
        }
        const step = steps[state](text[position] ?? '');
        state = ++sequenceChars > sequenceCharsMax ? 'text' : step.state;
        if (step.consumed) position++;
      }
      return clean;
    },
    end() {
      returnHeld = false;
      state = 'text';
      return '';
    },
  };
}

interface Step {
  readonly state: State;
  /** False if the character does not belong to the sequence and is looked at anew in the new state. */
  readonly consumed: boolean;
}

/** Within a sequence: what one more character makes of it. */
const steps: Readonly<Record<Exclude<State, 'text'>, (character: string) => Step>> = {
  escape(character) {
    if (character === '[') return { state: 'control', consumed: true };
    if (']PX^_'.includes(character)) return { state: 'string', consumed: true };
    if (isBetween(character, ' ', '/')) return { state: 'intermediate', consumed: true };
    return { state: 'text', consumed: isBetween(character, '0', '~') };
  },
  intermediate(character) {
    if (isBetween(character, ' ', '/')) return { state: 'intermediate', consumed: true };
    return { state: 'text', consumed: isBetween(character, '0', '~') };
  },
  control(character) {
    if (isBetween(character, ' ', '?')) return { state: 'control', consumed: true };
    return { state: 'text', consumed: isBetween(character, '@', '~') };
  },
  string(character) {
    if (character === '\u0007') return { state: 'text', consumed: true };
    if (character === '\u001b') return { state: 'string-escape', consumed: true };
    // A newline is in none of the strings that programs send: this one was binary, or cut off.
    return '\n\u0018\u001a'.includes(character)
      ? { state: 'text', consumed: false }
      : { state: 'string', consumed: true };
  },
  'string-escape'(character) {
    return character === '\\' ? { state: 'text', consumed: true } : { state: 'escape', consumed: false };
  },
};

/** Binary output is full of zeros; they are passed over together. */
function endOfRun(text: string, from: number): number {
  const code = text.charCodeAt(from);
  let end = from + 1;
  while (text.charCodeAt(end) === code) end++;
  return end;
}

function isBetween(character: string, first: string, last: string): boolean {
  return character >= first && character <= last;
}
