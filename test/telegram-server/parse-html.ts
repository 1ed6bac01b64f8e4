/**
 * Telegram's HTML as the Bot API reads it: a handful of tags, everything closed in order, anything else turned down with
 * the platform's own words. The text that is left is what a reader sees and what the length limit counts.
 */
import type { MessageEntity } from 'grammy/types';

export type ParsedHtml =
  | { readonly kind: 'text'; readonly text: string; readonly entities: readonly MessageEntity[] }
  | { readonly kind: 'problem'; readonly problem: string };

const tags: Readonly<Record<string, string>> = {
  b: 'bold',
  strong: 'bold',
  i: 'italic',
  em: 'italic',
  u: 'underline',
  ins: 'underline',
  s: 'strikethrough',
  strike: 'strikethrough',
  del: 'strikethrough',
  'tg-spoiler': 'spoiler',
  span: 'spoiler',
  a: 'text_link',
  code: 'code',
  pre: 'pre',
  blockquote: 'blockquote',
};

const characters: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"' };

interface Open {
  readonly tag: string;
  readonly attributes: ReadonlyMap<string, string>;
  readonly offset: number;
}

class HtmlProblem extends Error {}

export function parseHtml(html: string): ParsedHtml {
  try {
    return { kind: 'text', ...read(html) };
  } catch (error) {
    if (!(error instanceof HtmlProblem)) throw error;
    return { kind: 'problem', problem: error.message };
  }
}

function read(html: string): { text: string; entities: MessageEntity[] } {
  const open: Open[] = [];
  const entities: MessageEntity[] = [];
  let text = '';
  for (let at = 0; at < html.length;) {
    const character = html.charAt(at);
    if (character === '&') {
      const [decoded, next] = decodeAt(html, at);
      text += decoded;
      at = next;
    } else if (character !== '<') {
      text += character;
      at += 1;
    } else if (html.charAt(at + 1) === '/') {
      const [opened, next] = endTagAt(html, at, open);
      const entity = entityOf(opened, text.length - opened.offset);
      if (entity !== null) entities.push(entity);
      at = next;
    } else {
      const [tag, attributes, next] = startTagAt(html, at);
      if (open.length > 0 && ['pre', 'code'].includes(open.at(-1)?.tag ?? '') && !isLanguage(open, tag)) {
        // The real parser lets this pass and drops the inner formatting; here it is a mistake to notice.
        throw new HtmlProblem(`Entity inside ${open.at(-1)?.tag} at byte offset ${at}`);
      }
      if (tag === 'blockquote' && open.some((outer) => outer.tag === tag)) {
        throw new HtmlProblem(`Nested blockquote at byte offset ${at}`);
      }
      open.push({ tag, attributes, offset: text.length });
      at = next;
    }
  }
  const left = open.at(-1);
  if (left !== undefined) throw new HtmlProblem(`Can't find end tag corresponding to start tag "${left.tag}"`);
  return { text, entities };
}

function isLanguage(open: readonly Open[], tag: string): boolean {
  return tag === 'code' && open.length === 1 && open[0]?.tag === 'pre';
}

function decodeAt(html: string, at: number): [string, number] {
  const match = /^&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]+));/i.exec(html.slice(at, at + 12));
  if (match === null) return ['&', at + 1];
  const [whole, decimal, hexadecimal, name = ''] = match;
  const code = decimal === undefined ? Number.parseInt(hexadecimal ?? '', 16) : Number(decimal);
  if (name === '') return code > 0 && code < 0x110000 ? [String.fromCodePoint(code), at + whole.length] : ['&', at + 1];
  const character = characters[name];
  return character === undefined ? ['&', at + 1] : [character, at + whole.length];
}

function startTagAt(html: string, at: number): [string, Map<string, string>, number] {
  const name = /^<([^\s>]*)/.exec(html.slice(at))?.[1] ?? '';
  const tag = name.toLowerCase();
  const end = html.indexOf('>', at);
  if (!(tag in tags)) throw new HtmlProblem(`Unsupported start tag "${name}" at byte offset ${bytes(html, at)}`);
  if (end === -1) throw new HtmlProblem(`Unclosed start tag at byte offset ${bytes(html, at)}`);
  const attributes = new Map<string, string>();
  let rest = html.slice(at + 1 + name.length, end);
  for (let match = attribute.exec(rest); match !== null; match = attribute.exec(rest)) {
    const [whole, key = '', value = ''] = match;
    attributes.set(
      key.toLowerCase(),
      value.replaceAll(/&[#\w]+;/g, (entity) => decodeAt(entity, 0)[0]),
    );
    rest = rest.slice(whole.length);
  }
  if (rest.trim() !== '') throw new HtmlProblem(`Unexpected attribute text at byte offset ${bytes(html, at)}`);
  if (tag === 'span' && attributes.get('class') !== 'tg-spoiler') {
    throw new HtmlProblem(`Tag "span" must have class "tg-spoiler" at byte offset ${bytes(html, at)}`);
  }
  return [tag, attributes, end + 1];
}

const attribute = /^\s+([\w-]+)(?:="([^"<>]*)")?/;

function endTagAt(html: string, at: number, open: Open[]): [Open, number] {
  const match = /^<\/([^>]*)>/.exec(html.slice(at));
  if (match === null) throw new HtmlProblem(`Unclosed end tag at byte offset ${bytes(html, at)}`);
  const opened = open.pop();
  const found = (match[1] ?? '').trim().toLowerCase();
  if (opened === undefined) throw new HtmlProblem(`Unexpected end tag at byte offset ${bytes(html, at)}`);
  if (opened.tag !== found) {
    throw new HtmlProblem(
      `Unmatched end tag at byte offset ${bytes(html, at)}, expected "</${opened.tag}>", found "</${found}>"`,
    );
  }
  return [opened, at + match[0].length];
}

function entityOf({ tag, attributes, offset }: Open, length: number): MessageEntity | null {
  if (length === 0) return null;
  const type = tags[tag];
  const language = attributes.get('class')?.replace(/^language-/, '');
  if (type === 'text_link') return { type, offset, length, url: attributes.get('href') ?? '' };
  if (type === 'pre') return { type, offset, length, ...(language === undefined ? {} : { language }) };
  return { type, offset, length } as MessageEntity;
}

function bytes(html: string, at: number): number {
  return Buffer.byteLength(html.slice(0, at));
}
