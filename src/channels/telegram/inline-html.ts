/**
 * Markdown within a line as Telegram's HTML: emphasis, code, links. Whatever is not closed, or not known, stays the text
 * that it is, so the tags always match. Pure.
 */

/** Deeper emphasis is left as it is written. */
const depthMax = 8;
const urlCharsMax = 2_000;

type Tag = 'b' | 'i' | 's' | 'a';
type Within = ReadonlySet<Tag>;

const delimiters: readonly (readonly [delimiter: string, tag: Tag])[] = [
  ['**', 'b'],
  ['__', 'b'],
  ['~~', 's'],
  ['*', 'i'],
  ['_', 'i'],
];

export function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

export function inlineHtml(text: string, within: Within = new Set()): string {
  return render(text, within, 0);
}

function render(text: string, within: Within, depth: number): string {
  if (depth > depthMax) return escapeHtml(text);
  let html = '';
  const unclosed = new Set<string>();
  for (let at = 0; at < text.length;) {
    const piece = pieceAt({ text, within, depth, unclosed }, at);
    html += piece.html;
    at = piece.end;
  }
  return html;
}

interface Line {
  readonly text: string;
  readonly within: Within;
  readonly depth: number;
  /** Delimiters that nothing closes from here on: looking again for each of them would take for ever. */
  readonly unclosed: Set<string>;
}

interface Piece {
  readonly html: string;
  readonly end: number;
}

function pieceAt(line: Line, at: number): Piece {
  const { text } = line;
  const character = text.charAt(at);
  if (character === '\\' && isPunctuation(text.charAt(at + 1))) {
    return { html: escapeHtml(text.charAt(at + 1)), end: at + 2 };
  }
  const found =
    character === '`'
      ? codeAt(text, at)
      : character === '[' || character === '!'
        ? linkAt(line, at)
        : emphasisAt(line, at);
  return found ?? plainAt(text, at);
}

/** Up to the next character that could mean something; a run of the same one at once, so that it isn't tried again. */
function plainAt(text: string, at: number): Piece {
  const [plain = text.charAt(at)] = /^(?:`+|\*+|_+|~+|[^\\`*_~[!]+)/.exec(text.slice(at)) ?? [];
  return { html: escapeHtml(plain), end: at + plain.length };
}

function codeAt(text: string, at: number): Piece | null {
  const end = codeEnd(text, at);
  if (end === null) return null;
  const length = /^`+/.exec(text.slice(at))?.[0].length ?? 1;
  const content = text.slice(at + length, end - length);
  const code = /^ .*[^ ].* $/s.test(content) ? content.slice(1, -1) : content;
  return { html: `<code>${escapeHtml(code)}</code>`, end };
}

/** After the code that begins here; null if nothing closes it. */
function codeEnd(text: string, at: number): number | null {
  const [run = ''] = /^`+/.exec(text.slice(at)) ?? [];
  for (const match of text.slice(at + run.length).matchAll(/`+/g)) {
    if (match[0].length === run.length && match.index > 0) return at + run.length + match.index + run.length;
  }
  return null;
}

function linkAt({ text, within, depth }: Line, at: number): Piece | null {
  const open = text.charAt(at) === '!' ? at + 1 : at;
  if (text.charAt(open) !== '[') return null;
  const close = closingBracket(text, open);
  if (close === null || text.charAt(close + 1) !== '(') return null;
  const match = /^\(\s*<?((?:[^\s()<>]|\([^\s()<>]*\))*)>?(?:\s+(?:"[^"]*"|'[^']*'))?\s*\)/.exec(text.slice(close + 1));
  if (match === null) return null;
  const [whole, url = ''] = match;
  const label = text.slice(open + 1, close);
  const end = close + 1 + whole.length;
  const shown = label.trim() === '' ? escapeHtml(url) : render(label, new Set([...within, 'a']), depth + 1);
  if (!within.has('a') && isLink(url)) {
    return { html: `<a href="${escapeHtml(url).replaceAll('"', '&quot;')}">${shown}</a>`, end };
  }
  return { html: label.trim() === '' || url === '' ? shown : `${shown} (${escapeHtml(url)})`, end };
}

function closingBracket(text: string, open: number): number | null {
  let depth = 0;
  for (let at = open; at < text.length; at += 1) {
    const character = text.charAt(at);
    if (character === '\\') at += 1;
    else if (character === '[') depth += 1;
    else if (character === ']' && (depth -= 1) === 0) return at;
  }
  return null;
}

function isLink(url: string): boolean {
  return url.length <= urlCharsMax && /^(?:https?:\/\/|mailto:|tg:\/\/)[^\s]/i.test(url);
}

function emphasisAt({ text, within, depth, unclosed }: Line, at: number): Piece | null {
  for (const [delimiter, tag] of delimiters) {
    if (!text.startsWith(delimiter, at) || unclosed.has(delimiter) || !canOpen(text, at, delimiter)) continue;
    const close = closingAt(text, at + delimiter.length, delimiter);
    if (close === null) {
      unclosed.add(delimiter);
      continue;
    }
    const inner = render(text.slice(at + delimiter.length, close), new Set([...within, tag]), depth + 1);
    return { html: within.has(tag) ? inner : `<${tag}>${inner}</${tag}>`, end: close + delimiter.length };
  }
  return null;
}

function canOpen(text: string, at: number, delimiter: string): boolean {
  const after = text.charAt(at + delimiter.length);
  if (after === '' || /\s/.test(after)) return false;
  const before = text.charAt(at - 1);
  // 2*3 is a product; a single star within a word is hardly ever meant.
  return !(delimiter.startsWith('_') && isWord(before)) && !(delimiter === '*' && /[A-Za-z0-9]/.test(before));
}

function closingAt(text: string, from: number, delimiter: string): number | null {
  for (let at = from; at < text.length; at += 1) {
    const character = text.charAt(at);
    if (character === '\\') at += 1;
    else if (character === '`') at = (codeEnd(text, at) ?? at + 1) - 1;
    else if (character === delimiter.charAt(0)) {
      const [run = ''] = /^(?:\*+|_+|~+)/.exec(text.slice(at)) ?? [];
      const close = at + Math.max(0, run.length - delimiter.length);
      const fits = run.length === delimiter.length || (run.length > 2 && delimiter.length === 2);
      if (fits && at > from && !/\s/.test(text.charAt(at - 1)) && closes(text, at + run.length, delimiter))
        return close;
      at += Math.max(run.length, 1) - 1;
    }
  }
  return null;
}

function closes(text: string, end: number, delimiter: string): boolean {
  return !delimiter.startsWith('_') || !isWord(text.charAt(end));
}

function isWord(character: string): boolean {
  return /[\p{L}\p{N}]/u.test(character);
}

function isPunctuation(character: string): boolean {
  return /[!-/:-@[-`{-~]/.test(character);
}
