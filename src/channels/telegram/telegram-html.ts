/**
 * Markdown as the HTML that Telegram takes. What comes out is always well formed, whatever goes in: tags are written in
 * pairs and everything else is escaped. What Telegram has no tag for becomes text that reads as well. Pure.
 */
import { escapeHtml, inlineHtml } from './inline-html.ts';
import { beginsTable, tableText } from './table-text.ts';

export interface TelegramText {
  readonly html: string;
  /** What a reader sees: what Telegram's limit counts. */
  readonly visible: string;
}

export function toTelegramHtml(markdown: string): TelegramText {
  const html = blocks(cleanText(markdown).split('\n'), false).join('\n').trim();
  return { html, visible: visibleText(html) };
}

/** Without what no message can hold: halves of characters, and control characters. */
export function cleanText(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/\r\n?/g, '\n')
    .replaceAll(/\p{Cc}/gu, (character) => (character === '\n' || character === '\t' ? character : ''));
}

function visibleText(html: string): string {
  return html
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&');
}

interface Block {
  readonly html: string;
  /** The first line after it. */
  readonly next: number;
}

type BlockReader = (lines: readonly string[], at: number, isQuoted: boolean) => Block | null;
const readers: readonly BlockReader[] = [codeBlock, heading, rule, quote, table, listItem];

function blocks(lines: readonly string[], isQuoted: boolean): string[] {
  const written: string[] = [];
  const blockAt = (at: number): Block | null => {
    for (const read of readers) {
      const block = read(lines, at, isQuoted);
      if (block !== null) return block;
    }
    return null;
  };
  for (let at = 0; at < lines.length;) {
    const block = blockAt(at);
    if (block !== null) {
      written.push(block.html);
      at = block.next;
      continue;
    }
    // Lines of one paragraph belong together: emphasis may go over their ends.
    let end = at + 1;
    while (end < lines.length && lines[end]?.trim() !== '' && blockAt(end) === null) end += 1;
    written.push(inlineHtml(lines.slice(at, end).join('\n')));
    at = end;
  }
  return written;
}

function codeBlock(lines: readonly string[], at: number): Block | null {
  const {
    indent = '',
    marker,
    info = '',
  } = /^(?<indent>\s*)(?<marker>`{3,}|~{3,})(?<info>.*)$/.exec(lines[at] ?? '')?.groups ?? {};
  if (marker === undefined || (marker.startsWith('`') && info.includes('`'))) return null;
  let end = at + 1;
  while (end < lines.length && !closesCode(lines[end] ?? '', marker)) end += 1;
  const content = lines.slice(at + 1, end).map((line) => (line.startsWith(indent) ? line.slice(indent.length) : line));
  const language = /^[\w+#.-]{1,30}/.exec(info.trim())?.[0];
  const code = escapeHtml(content.join('\n'));
  if (code.trim() === '') return { html: '', next: end + 1 };
  const html = language === undefined ? code : `<code class="language-${language}">${code}</code>`;
  return { html: `<pre>${html}</pre>`, next: end + 1 };
}

function closesCode(line: string, marker: string): boolean {
  const content = line.trim();
  return content.length >= marker.length && content === marker.charAt(0).repeat(content.length);
}

function heading(lines: readonly string[], at: number): Block | null {
  const title = /^\s{0,3}#{1,6}\s+(.*?)\s*#*\s*$/.exec(lines[at] ?? '')?.[1];
  if (title === undefined || title === '') return null;
  return { html: `<b>${inlineHtml(title, new Set(['b']))}</b>`, next: at + 1 };
}

function rule(lines: readonly string[], at: number): Block | null {
  return /^\s{0,3}([-*_])(?:\s*\1){2,}\s*$/.test(lines[at] ?? '') ? { html: '———', next: at + 1 } : null;
}

function quote(lines: readonly string[], at: number, isQuoted: boolean): Block | null {
  // Telegram has no quotes within quotes.
  if (isQuoted || !isQuote(lines[at])) return null;
  let end = at + 1;
  while (isQuote(lines[end])) end += 1;
  const inner = blocks(
    lines.slice(at, end).map((line) => line.replace(/^\s{0,3}> ?/, '')),
    true,
  ).join('\n');
  return { html: inner.trim() === '' ? '' : `<blockquote>${inner}</blockquote>`, next: end };
}

function isQuote(line: string | undefined): boolean {
  return line !== undefined && /^\s{0,3}>/.test(line);
}

function table(lines: readonly string[], at: number): Block | null {
  if (!beginsTable(lines[at] ?? '', lines[at + 1] ?? '')) return null;
  let end = at + 2;
  while (end < lines.length && (lines[end] ?? '').includes('|')) end += 1;
  const rows = [lines[at] ?? '', ...lines.slice(at + 2, end)];
  return { html: `<pre>${escapeHtml(tableText(rows))}</pre>`, next: end };
}

function listItem(lines: readonly string[], at: number): Block | null {
  const match = /^(\s*)(?:[-*+]|(\d{1,9}[.)]))\s+(?:\[([ xX])\]\s+)?(\S.*)$/.exec(lines[at] ?? '');
  if (match === null) return null;
  const [, indent = '', number, box, text = ''] = match;
  const mark = box === undefined ? (number ?? '•') : box === ' ' ? '☐' : '☑';
  return { html: `${indent.replaceAll('\t', '    ')}${mark} ${inlineHtml(text)}`, next: at + 1 };
}
