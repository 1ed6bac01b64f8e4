/**
 * Shows of every line what a terminal would show in the end: after a carriage return the line is drawn anew (progress
 * bars), a backspace takes back one character. The line being drawn is held until it is complete; one that grows past
 * a limit is let go in pieces, and then only its last piece can be redrawn.
 */
import type { TextFilter } from './text-filter.ts';

const heldCharsMax = 8_192;

export function createLineFolder(): TextFilter {
  let line = '';
  /** A carriage return came: whatever is drawn next replaces the line. */
  let returned = false;

  const draw = (text: string) => {
    line = returned ? text : line + text;
    returned = false;
  };

  /** Whole lines out, the rest stays. */
  const takeLines = (text: string): string => {
    const newline = text.lastIndexOf('\n');
    if (newline < 0) {
      draw(text);
      return '';
    }
    // The newline leaves a line that nothing was drawn over as it is.
    if (text.startsWith('\n')) returned = false;
    draw(text.slice(0, newline + 1));
    const lines = line;
    line = text.slice(newline + 1);
    return lines;
  };

  return {
    push(text) {
      let out = '';
      for (const piece of text.split(/([\r\b])/)) {
        if (piece === '\r') returned = true;
        else if (piece === '\b') line = returned ? line : withoutLastCharacter(line);
        else if (piece !== '') out += takeLines(piece);
      }
      if (line.length > heldCharsMax) {
        out += line;
        line = '';
      }
      return out;
    },
    end() {
      const rest = line;
      line = '';
      returned = false;
      return rest;
    },
  };
}

function withoutLastCharacter(line: string): string {
  const last = line.codePointAt(line.length - 2);
  return line.slice(0, last !== undefined && last > 0xffff ? -2 : -1);
}
