import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Lexer } from 'marked';
import { decodeCharacters, readMarkdown, safeHref, type MarkdownBlocks } from './markdown-blocks.ts';

const sample = `# Title

Some **bold** text,
over two lines.

- one
- two
  - nested

    with a paragraph

1. first

2. second, a line apart

| a | b |
| - | -: |
| 1 | 2 |

> quoted
> twice

\`\`\`ts
const a = 1;

const b = 2;
\`\`\`

<div>
html
</div>

Setext
======

The end.
`;

function grow(text: string, step: number): MarkdownBlocks {
  let read: MarkdownBlocks | null = null;
  for (let end = 0; end < text.length; end += step) read = readMarkdown(text.slice(0, end), read);
  return readMarkdown(text, read);
}

test('a text read as it grows gives the blocks that it gives as a whole', () => {
  const whole = [...Lexer.lex(sample)];
  for (const step of [1, 2, 7, 40]) assert.deepEqual(grow(sample, step).blocks, whole, `in steps of ${step}`);
});

test('blocks that are finished keep their identity', () => {
  const before = readMarkdown(sample, null);
  const after = readMarkdown(`${sample}\nAnd more.`, before);
  const kept = after.blocks.filter((block, index) => block === before.blocks[index]).length;
  assert.ok(kept >= before.blocks.length - 4, `${kept} of ${before.blocks.length} are the same`);
});

test('another text is read from its start', () => {
  const read = readMarkdown('two', readMarkdown('one\n\ntwo\n\nthree', null));
  assert.deepEqual(read.blocks, [...Lexer.lex('two')]);
});

test('a fence that is still open is code', () => {
  assert.deepEqual(
    readMarkdown('so:\n\n```js\nlet a', null).blocks.map(({ type }) => type),
    ['paragraph', 'space', 'code'],
  );
});

test('a reference to a link that was defined in a finished block still finds it', () => {
  const before = readMarkdown('[ref]: https://example.com\n\none\n\ntwo\n\nthree', null);
  const after = readMarkdown(`${before.source}\n\n[ref]`, before);
  const last = after.blocks.at(-1);
  assert.equal(last?.type === 'paragraph' && last.tokens?.[0]?.type, 'link');
});

test('line ends of every kind are line ends', () => {
  assert.deepEqual(readMarkdown('a\r\n\r\nb\r\rc', null).blocks, [...Lexer.lex('a\n\nb\n\nc')]);
});

test('what is too deep or too long for Markdown is shown as it is', () => {
  const stairs = Array.from({ length: 300 }, (_, depth) => `${' '.repeat(depth)}- a`).join('\n');
  for (const deep of ['>'.repeat(60), '> '.repeat(60), `so:\n${'1. '.repeat(60)}`, stairs])
    assert.deepEqual(readMarkdown(deep, null).blocks, [{ type: 'html', raw: deep, text: deep }]);
  const long = '*a* '.repeat(200_000);
  assert.deepEqual(readMarkdown(long, null).blocks, [{ type: 'html', raw: long, text: long }]);
});

test('only addresses that lead out of the page safely are followed', () => {
  const good = ['https://example.com/a?b=c#d', 'HTTP://example.com', 'mailto:a@example.com'];
  assert.deepEqual(good.map(safeHref), good);
  const bad = [
    'javascript:alert(1)',
    'JaVaScRiPt:alert(1)',
    ' javascript:alert(1)',
    'java\nscript:alert(1)',
    'data:text/html,<script>alert(1)</script>',
    'vbscript:x',
    'file:///etc/passwd',
    'blob:https://example.com/1',
    '//example.com',
    '/api/sessions',
    'README.md',
    '#/s/x',
    'https://',
    '',
  ];
  assert.deepEqual(
    bad.filter((href) => safeHref(href) !== null),
    [],
  );
});

test('character references are resolved, unknown and impossible ones stay as written', () => {
  assert.equal(decodeCharacters('a &amp; b &lt;c&gt; &#65;&#x1F600; &mdash;'), 'a & b <c> A😀 —');
  assert.equal(decodeCharacters('AT&T &nope; &#0; &#x110000; &'), 'AT&T &nope; &#0; &#x110000; &');
  assert.equal(decodeCharacters('&amp;lt;'), '&lt;');
});
