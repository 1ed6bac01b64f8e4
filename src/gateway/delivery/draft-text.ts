/**
 * What a draft shows of an answer that is still being written. Pure. The more is written, the more is shown, and never
 * less: how much fits does not depend on what comes later. A code block that is open is closed in what is shown.
 */
import { findFences } from './code-fences.ts';

/** Where the platform has no limit of its own. */
export const draftCharsMax = 16_384;
const lineShare = 1 / 4;
const lineCharsMax = 200;

export interface DraftRoom {
  readonly charsMax: number;
  /** For the answer. */
  readonly bodyMax: number;
  /** For the line below it. */
  readonly lineMax: number;
}

/** The line, an ellipsis and a closing fence have their room whether or not they are there. */
export function draftRoom(textCharsMax: number | null): DraftRoom {
  const charsMax = Math.min(textCharsMax ?? draftCharsMax, draftCharsMax);
  const lineMax = Math.min(lineCharsMax, Math.floor(charsMax * lineShare));
  const fenceMax = Math.floor(charsMax / 8) + 1;
  return { charsMax, bodyMax: charsMax - lineMax - 2 - 1 - fenceMax, lineMax };
}

/** `text` may be longer than what is shown of it. Empty if there is nothing to show yet. */
export function draftBody(text: string, { bodyMax, charsMax }: DraftRoom): string {
  const whole = text.replace(/^[\r\n]+/, '');
  const isCut = whole.length > bodyMax;
  const kept = withoutHalf(withoutBegunFence(whole.slice(0, bodyMax))).trimEnd();
  if (kept === '') return '';
  const shown = isCut ? `${kept}…` : kept;
  const last = findFences(kept, charsMax).at(-1);
  // A fence whose closing line is there ends after its content.
  const isOpen = last !== undefined && last.contentEnd === last.end;
  return isOpen ? `${shown}\n${last.closing}` : shown;
}

export function draftText(body: string, line: string): string {
  return body === '' || line === '' ? body + line : `${body}\n\n${line}`;
}

/** The last line may become a fence: until it is whole it would show as something else. */
function withoutBegunFence(text: string): string {
  return text.replace(/(?<=^|\n)[ \t]*(?:`{1,2}|~{1,2}|`{3,}[^`\n]*|~{3,}[^\n]*)$/, '');
}

function withoutHalf(text: string): string {
  return /[\uD800-\uDBFF]$/.test(text) ? text.slice(0, -1) : text;
}
