/**
 * Markdown as a list of blocks, for text that grows while it is read: blocks that can't change any more keep their
 * identity, only the end is read again. Never throws: what can't be read as Markdown is one block of plain text.
 */
import { Lexer, type Token } from 'marked';

/** Longer texts are shown plain. */
const markdownCharsMax = 400_000;
/** Nobody nests like this on purpose, and the reader of Markdown takes seconds over it: shown plain, too. */
const nestedTooDeep = /^(?:[ \t]{200,}[-*+\d]|(?: {0,3}(?:>|\d+[.)]) ?){50,})/m;
/** How many blocks at the end may still change when more text arrives: `2` may become `2. the next item`. */
const openBlocks = 2;

export interface MarkdownBlocks {
  readonly source: string;
  readonly blocks: readonly Token[];
  readonly links: Lexer['tokens']['links'];
}

/** `before` is what an earlier, shorter text gave; it is used if this text goes on from there. */
export function readMarkdown(text: string, before: MarkdownBlocks | null): MarkdownBlocks {
  const source = text.replace(/\r\n?/g, '\n');
  if (source.length > markdownCharsMax || nestedTooDeep.test(source)) return plain(source);
  if (before === null || !source.startsWith(before.source)) return read(source, '', [], {});
  const kept = settledBlocks(before.blocks);
  const head = kept.map((block) => block.raw).join('');
  // The offsets hold only if the blocks are the text, character for character.
  if (!source.startsWith(head)) return read(source, '', [], {});
  return read(source, head, kept, before.links);
}

function read(source: string, head: string, kept: readonly Token[], links: Lexer['tokens']['links']): MarkdownBlocks {
  const lexer = new Lexer();
  Object.assign(lexer.tokens.links, links);
  try {
    const tail = lexer.lex(source.slice(head.length));
    return { source, blocks: [...kept, ...tail], links: tail.links };
  } catch {
    // Nesting of yet another kind exhausted the stack; the text is readable as it is.
    return plain(source);
  }
}

function settledBlocks(blocks: readonly Token[]): readonly Token[] {
  let open = 0;
  const firstOpen = blocks.findLastIndex((block) => block.type !== 'space' && ++open === openBlocks);
  return blocks.slice(0, Math.max(0, firstOpen));
}

function plain(source: string): MarkdownBlocks {
  return { source, blocks: [{ type: 'html', raw: source, text: source }], links: {} };
}

/** The address if following it is harmless, otherwise null. Relative ones would lead into this very page. */
export function safeHref(href: string): string | null {
  return /^(https?:\/\/|mailto:)/i.test(href) && URL.canParse(href) ? href : null;
}

const namedCharacters: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: '\u00a0',
  copy: '©',
  hellip: '…',
  mdash: '—',
  ndash: '–',
  bull: '•',
  times: '×',
  larr: '←',
  rarr: '→',
};
const lastCodePoint = 0x10ffff;

/** Resolves `&amp;` and the like; those it doesn't know stay as they are written. */
export function decodeCharacters(text: string): string {
  if (!text.includes('&')) return text;
  return text.replace(/&(?:#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6})|([a-zA-Z]{2,8}));/g, (whole, decimal, hex, name) => {
    if (name !== undefined) return namedCharacters[name as string] ?? whole;
    const code = decimal === undefined ? Number.parseInt(hex as string, 16) : Number(decimal);
    return code > 0 && code <= lastCodePoint ? String.fromCodePoint(code) : whole;
  });
}
