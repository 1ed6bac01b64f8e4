import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { parseHtml } from '../../../test/telegram-server/parse-html.ts';
import { toTelegramHtml } from './telegram-html.ts';

const cases: readonly (readonly [what: string, markdown: string, html: string])[] = [
  ['plain text is escaped', 'a < b && c > "d"', 'a &lt; b &amp;&amp; c &gt; "d"'],
  ['tags of the author are text', '<b>no</b> <script>', '&lt;b&gt;no&lt;/b&gt; &lt;script&gt;'],
  ['emphasis', '**bold** *it* __bold__ _it_ ~~gone~~', '<b>bold</b> <i>it</i> <b>bold</b> <i>it</i> <s>gone</s>'],
  ['both at once', '***x***', '<b><i>x</i></b>'],
  ['emphasis in emphasis', '**a *b* c**', '<b>a <i>b</i> c</b>'],
  ['emphasis over a line end', '**a\nb**', '<b>a\nb</b>'],
  ['names with underscores stay', 'snake_case_name and __init__.py', 'snake_case_name and <b>init</b>.py'],
  ['a product is no emphasis', '2 * 3 * 4', '2 * 3 * 4'],
  ['a star within a word neither', '2*3 is *six*', '2*3 is <i>six</i>'],
  ['emphasis where words have no spaces', '文字**粗体**文字', '文字<b>粗体</b>文字'],
  ['what is not closed stays', 'a **b `c [d](e', 'a **b `c [d](e'],
  ['code is taken as it is', '`a <b> **c**`', '<code>a &lt;b&gt; **c**</code>'],
  ['backticks in code', '`` a`b ``', '<code>a`b</code>'],
  ['escapes', String.raw`\*not\* \<`, '*not* &lt;'],
  ['a link', '[a *b*](https://x.y/?a=1&b="2")', '<a href="https://x.y/?a=1&amp;b=&quot;2&quot;">a <i>b</i></a>'],
  ['a link to elsewhere', '[run](javascript:alert)', 'run (javascript:alert)'],
  ['an image', '![cat](https://x.y/c.png)', '<a href="https://x.y/c.png">cat</a>'],
  ['a link in a link', '[[a](https://x.y)](https://z.y)', '<a href="https://z.y">a (https://x.y)</a>'],
  ['a heading', '## One **two**', '<b>One two</b>'],
  ['a list', '- a\n  * b\n1. c\n- [x] d', '• a\n  • b\n1. c\n☑ d'],
  ['a rule', 'a\n\n---\nb', 'a\n\n———\nb'],
  ['a quote', '> a\n> > b\nc', '<blockquote>a\n&gt; b</blockquote>\nc'],
  ['a code block', '```ts\nif (a < b) {}\n```\nx', '<pre><code class="language-ts">if (a &lt; b) {}</code></pre>\nx'],
  ['a code block that is not closed', '```\n**a**', '<pre>**a**</pre>'],
  ['a longer fence', '````\n```\n````', '<pre>```</pre>'],
  ['a table', '| a | **b** |\n|---|:-:|\n| ccc | d |', '<pre>a   | b\n----+--\nccc | d</pre>'],
];

describe('Markdown for Telegram', () => {
  for (const [what, markdown, html] of cases) {
    test(what, () => assert.equal(toTelegramHtml(markdown).html, html));
  }

  test('what no message can hold is left out', () => {
    assert.equal(toTelegramHtml('a\0b\u0007\r\nc\ud800').html, 'ab\nc\ufffd');
  });

  const marks = [
    ...'* ** _ __ ~~ ` ``` | |-|-| [ ] ( ) ![ ](https://a.b) <b> </b> &amp; & < > " \\ a ü 👩‍👩‍👧'.split(' '),
    ...' ;\n;\n\n;> ;- ;1. ;# ;\t;\ud800'.split(';'),
  ];
  const scraps = fc.array(fc.oneof(fc.constantFrom(...marks), fc.string({ unit: 'binary', maxLength: 8 })), {
    maxLength: 60,
  });

  test('it is well formed for any text, and the visible text is what Telegram counts', () => {
    fc.assert(
      fc.property(scraps, (pieces) => {
        const { html, visible } = toTelegramHtml(pieces.join(''));
        const parsed = parseHtml(html);
        assert.ok(parsed.kind === 'text', parsed.kind === 'problem' ? parsed.problem : '');
        assert.equal(parsed.text, visible);
        assert.ok(html.isWellFormed());
      }),
      { numRuns: 3_000 },
    );
  });

  test('no word gets lost', () => {
    const word = fc.stringMatching(/^[a-z0-9]{1,6}$/);
    const wrapped = fc.tuple(fc.constantFrom('', '*', '**', '`', '~~', '# ', '- ', '> '), word);
    fc.assert(
      fc.property(fc.array(wrapped, { maxLength: 20 }), (words) => {
        const markdown = words.map(([mark, text]) => `${mark}${text}${mark.trim() === mark ? mark : ''}`).join('\n');
        const { visible } = toTelegramHtml(markdown);
        assert.deepEqual(
          visible.match(/[a-z0-9]+/g) ?? [],
          words.map(([, text]) => text),
        );
      }),
    );
  });

  test('code comes out as it went in', () => {
    const line = fc.string({ unit: 'grapheme-ascii', maxLength: 30 }).filter((text) => !/^\s*`{3,}/.test(text));
    fc.assert(
      fc.property(fc.array(line, { minLength: 1, maxLength: 8 }), (lines) => {
        fc.pre(lines.join('').trim() !== '');
        const { html } = toTelegramHtml(['before', '```sh', ...lines, '```', 'after'].join('\n'));
        const parsed = parseHtml(html);
        assert.ok(parsed.kind === 'text');
        assert.equal(parsed.text, ['before', ...lines, 'after'].join('\n'));
      }),
    );
  });
});
