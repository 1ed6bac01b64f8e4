/**
 * Local servers that know nothing of thoughts send them as words: an answer then begins with `<think>`. Told apart only
 * at the very beginning, where no answer means it literally; the rest passes untouched.
 */

export interface ContentPiece {
  readonly text: string;
  readonly isThought: boolean;
}

const opening = '<think>';
const closing = '</think>';

export class ThinkTags {
  #place: 'start' | 'inside' | 'after' | 'outside' = 'start';
  /** What may be a part of a tag. */
  #held = '';

  push(text: string): ContentPiece[] {
    this.#held += text;
    switch (this.#place) {
      case 'start':
        return this.#begin();
      case 'inside':
        return this.#think();
      case 'after':
        return this.#goOn();
      case 'outside':
        return this.#take(this.#held.length, false);
    }
  }

  /** There is nothing more: what was held is what it looks like. */
  flush(): ContentPiece[] {
    return this.#place === 'after' ? [] : this.#take(this.#held.length, this.#place === 'inside');
  }

  #begin(): ContentPiece[] {
    const text = this.#held.trimStart();
    if (opening.startsWith(text)) return [];
    if (!text.startsWith(opening)) {
      this.#place = 'outside';
      return this.#take(this.#held.length, false);
    }
    this.#place = 'inside';
    this.#held = text.slice(opening.length);
    return this.#think();
  }

  #think(): ContentPiece[] {
    const end = this.#held.indexOf(closing);
    if (end < 0) return this.#take(this.#held.length - partAtEnd(this.#held), true);
    const thought = this.#take(end, true);
    this.#held = this.#held.slice(closing.length);
    this.#place = 'after';
    return [...thought, ...this.#goOn()];
  }

  /** The empty lines between thoughts and words belong to neither. */
  #goOn(): ContentPiece[] {
    this.#held = this.#held.trimStart();
    if (this.#held === '') return [];
    this.#place = 'outside';
    return this.#take(this.#held.length, false);
  }

  #take(chars: number, isThought: boolean): ContentPiece[] {
    const text = this.#held.slice(0, chars);
    this.#held = this.#held.slice(chars);
    return text === '' ? [] : [{ text, isThought }];
  }
}

/** How many characters at the end may be the beginning of the closing tag. */
function partAtEnd(text: string): number {
  for (let chars = Math.min(closing.length - 1, text.length); chars > 0; chars--) {
    if (text.endsWith(closing.slice(0, chars))) return chars;
  }
  return 0;
}
