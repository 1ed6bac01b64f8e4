/**
 * Draws Markdown as elements, never as HTML text: HTML in the source is shown as the text it is, links lead only to
 * http, https and mail, and images from outside become links, so that reading a reply asks nothing of the network.
 */
import type { MarkedToken, Token, Tokens } from 'marked';
import { Fragment, h, type ComponentChild } from 'preact';
import { useMemo, useRef } from 'preact/hooks';

import { CodeBlock } from './code-block.tsx';
import { decodeCharacters, readMarkdown, safeHref, type MarkdownBlocks } from './markdown-blocks.ts';
import { memo } from './memo.ts';

export function Markdown({ text }: { text: string }) {
  const before = useRef<MarkdownBlocks | null>(null);
  const read = useMemo(() => readMarkdown(text, before.current), [text]);
  before.current = read;
  return (
    <div class="markdown">
      {read.blocks.map((block, index) =>
        block.type === 'space' || block.type === 'def' ? null : <Block key={index} token={block} />,
      )}
    </div>
  );
}

const Block = memo(({ token }: { token: Token }) => block(token as MarkedToken));

function blocks(tokens: readonly Token[]): ComponentChild {
  return tokens.map((token, index) => <Fragment key={index}>{block(token as MarkedToken)}</Fragment>);
}

function block(token: MarkedToken): ComponentChild {
  switch (token.type) {
    case 'heading':
      // The page's own headings are the first two levels.
      return h(`h${Math.min(6, token.depth + 2)}`, { class: `heading-${token.depth}` }, inlines(token.tokens));
    case 'paragraph':
      return <p>{inlines(token.tokens)}</p>;
    case 'code':
      return <CodeBlock text={token.text} language={languageOf(token)} />;
    case 'blockquote':
      return <blockquote>{blocks(token.tokens)}</blockquote>;
    case 'list':
      return list(token);
    case 'table':
      return table(token);
    case 'hr':
      return <hr />;
    case 'html':
      return <p class="verbatim">{token.text.trimEnd()}</p>;
    case 'space':
    case 'def':
      return null;
    default:
      return inline(token);
  }
}

function languageOf(token: Tokens.Code): string {
  return token.lang?.match(/^\S+/)?.[0] ?? '';
}

function list(token: Tokens.List): ComponentChild {
  const items = token.items.map((item, index) => (
    <li key={index} class={item.task ? 'task' : undefined}>
      {blocks(item.tokens)}
    </li>
  ));
  return token.ordered ? <ol start={token.start === '' ? 1 : token.start}>{items}</ol> : <ul>{items}</ul>;
}

function table(token: Tokens.Table): ComponentChild {
  const cells = (row: readonly Tokens.TableCell[]) =>
    row.map((cell, index) =>
      h(
        cell.header ? 'th' : 'td',
        {
          key: index,
          class: cell.align === null ? undefined : `align-${cell.align}`,
          ...(cell.header && { scope: 'col' }),
        },
        inlines(cell.tokens),
      ),
    );
  return (
    <div class="table-frame">
      <table>
        <thead>
          <tr>{cells(token.header)}</tr>
        </thead>
        <tbody>
          {token.rows.map((row, index) => (
            <tr key={index}>{cells(row)}</tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function inlines(tokens: readonly Token[]): ComponentChild {
  return tokens.map((token, index) => <Fragment key={index}>{inline(token as MarkedToken)}</Fragment>);
}

function inline(token: MarkedToken): ComponentChild {
  switch (token.type) {
    case 'text':
      if (token.tokens !== undefined) return inlines(token.tokens);
      return token.escaped === false ? decodeCharacters(token.text) : token.text;
    case 'escape':
      return token.text;
    case 'strong':
      return <strong>{inlines(token.tokens)}</strong>;
    case 'em':
      return <em>{inlines(token.tokens)}</em>;
    case 'del':
      return <del>{inlines(token.tokens)}</del>;
    case 'codespan':
      return <code>{token.text}</code>;
    case 'br':
      return <br />;
    case 'checkbox':
      return <input type="checkbox" checked={token.checked} disabled />;
    case 'link':
      return link(token.autolink === true ? token.href : decodeCharacters(token.href), inlines(token.tokens), token);
    case 'image':
      return link(decodeCharacters(token.href), `image: ${token.text === '' ? token.href : token.text}`, token);
    default:
      return token.raw;
  }
}

function link(address: string, label: ComponentChild, token: Tokens.Link | Tokens.Image): ComponentChild {
  const href = safeHref(address);
  // What leads nowhere safe is shown as it was written, so that nothing hides behind a harmless label.
  if (href === null) return token.raw;
  return (
    <a href={href} target="_blank" rel="noopener noreferrer" title={token.title ?? undefined}>
      {label}
    </a>
  );
}
