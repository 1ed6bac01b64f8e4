import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, test, type TestContext } from 'node:test';
import { deflateSync } from 'node:zlib';
import { parseHTML } from 'linkedom';
import type { Gate } from '../src/tools/approval.ts';
import { createEgress } from '../src/tools/egress/create-egress.ts';
import { fakeToolContext } from '../src/tools/fake-tool-context.ts';
import { extractText } from '../src/tools/web/extract-text.ts';
import { markdownOf } from '../src/tools/web/markdown-of.ts';
import { searchProviders } from '../src/tools/web/search-providers.ts';
import { createWebExtractTool } from '../src/tools/web/web-extract-tool.ts';
import { createWebSearchTool, toAsk, type WebSearchSettings } from '../src/tools/web/web-search-tool.ts';

const { signal } = new AbortController();
const context = fakeToolContext('/nowhere');

async function serve(t: TestContext, answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const server = createServer(answer);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => new Promise((resolve) => server.close(resolve)));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
const egress = createEgress({ privateHosts: () => ['127.0.0.1'] });
const open: Gate = {
  consider: async () => ({ kind: 'go' }),
  settle: async (asked) => ({ kind: 'go', frozen: asked.plan ?? '' }),
};

describe('a page as Markdown', () => {
  test('keeps headings, links, lists, code, quotes and tables, and drops what is for the eye', () => {
    const { document } = parseHTML(`<html><body><nav hidden>no</nav><h1>Big <em>title</em></h1>
      <p>Some <b>bold</b> and <a href="/x?a=1">a  link</a>,<br>next line. <a href="javascript:x()">bad</a></p>
      <ul><li>one</li><li>two<ol><li>deep</li></ol></li></ul>
      <pre>if (a) {\n  b();\n}</pre><blockquote><p>said</p></blockquote>
      <table><tr><th>A</th><th>B|C</th></tr><tr><td>1</td><td>2</td></tr></table>
      <img src="a.png" alt="a cat"><img src="b.png"><script>evil()</script><style>p{}</style></body></html>`);
    assert.equal(
      markdownOf(document, 'https://site.test/dir/'),
      [
        '# Big *title*',
        'Some **bold** and [a link](https://site.test/x?a=1),\nnext line. bad',
        '- one\n- two\n  1. deep',
        '```\nif (a) {\n  b();\n}\n```',
        '> said',
        '| A | B\\|C |\n| --- | --- |\n| 1 | 2 |',
        '[image: a cat]',
      ].join('\n\n'),
    );
  });

  test('is bounded in depth', () => {
    const deep = `${'<div>'.repeat(5_000)}bottom${'</div>'.repeat(5_000)}`;
    assert.equal(markdownOf(parseHTML(`<body>${deep}</body>`).document, 'https://x.test'), 'bottom');
  });
});

const article = `<html><head><title>All about tea</title></head><body><nav><a href="/a">Home</a><a href="/b">Shop</a></nav>
  <article><h1>All about tea</h1>${'<p>Tea is a drink that many people like, and this sentence says so at some length, with commas.</p>'.repeat(8)}
  <p>See <a href="/green">green tea</a>.</p></article><footer>Imprint, cookies</footer></body></html>`;

describe('what a document says', () => {
  const html = (text: string | Uint8Array, charset: string | null = null) =>
    extractText({ kind: 'html', bytes: Buffer.from(text), charset, url: 'https://tea.test/post' }, signal);

  test('is the article without what stands around it', async () => {
    const result = await html(article);
    assert.ok(result.kind === 'extracted');
    assert.equal(result.extracted.title, 'All about tea');
    assert.match(result.extracted.markdown, /^Tea is a drink|^# All about tea/);
    assert.match(result.extracted.markdown, /\[green tea\]\(https:\/\/tea\.test\/green\)/);
    assert.doesNotMatch(result.extracted.markdown, /Imprint|Shop/);
  });

  test('is the whole page where there is no article', async () => {
    assert.deepEqual(await html('<title>List</title><body><a href="/1">one</a> <a href="/2">two</a></body>'), {
      kind: 'extracted',
      extracted: { title: 'List', markdown: '[one](https://tea.test/1) [two](https://tea.test/2)' },
    });
  });

  test('is read in the character set that the server or the page names', async () => {
    const latin = Buffer.from('<body>caf\xe9</body>', 'latin1');
    const meta = Buffer.from('<meta charset="iso-8859-1"><body>caf\xe9</body>', 'latin1');
    for (const result of [await html(latin, 'iso-8859-1'), await html(meta)]) {
      assert.deepEqual(result.kind === 'extracted' && result.extracted.markdown, 'café');
    }
    assert.equal((await html('<body>x</body>', 'no-such-set')).kind, 'extracted');
    // A mark at the beginning knows better than anybody; where nobody says anything, old pages are not UTF-8.
    const marked = Buffer.from('\ufeff<body>café</body>', 'utf16le');
    for (const result of [await html(marked), await html(marked, 'utf-8'), await html(latin)]) {
      assert.deepEqual(result.kind === 'extracted' && result.extracted.markdown, 'café');
    }
  });

  test('of broken and empty pages is whatever there is', async () => {
    for (const text of ['', '<', '<html', '<p>a<b>b</p>c', '\0\0\0', '<!-- unended', '<svg><style></svg>']) {
      assert.equal((await html(text)).kind, 'extracted', text);
    }
  });

  test('of a PDF is its text, page by page', async () => {
    const result = await extractText(
      { kind: 'pdf', bytes: pdfOf(['Hello PDF', 'Second']), charset: null, url: 'x' },
      signal,
    );
    assert.deepEqual(result, {
      kind: 'extracted',
      extracted: { title: '', markdown: '[page 1]\nHello PDF\n\n[page 2]\nSecond' },
    });
    const broken = await extractText(
      { kind: 'pdf', bytes: Buffer.from('%PDF-1.4 nonsense'), charset: null, url: 'x' },
      signal,
    );
    assert.equal(broken.kind, 'unreadable');
  });

  test(
    'is given up where it takes more memory than it may, and nothing else ends with it',
    { timeout: 60_000 },
    async () => {
      const packed = deflateSync(Buffer.alloc(64_000_000, ' '));
      const pdf = await extractText({ kind: 'pdf', bytes: pdfBomb(packed, 40), charset: null, url: 'x' }, signal);
      assert.deepEqual(pdf, { kind: 'unreadable', problem: 'reading it takes more than 512 MB' });
      // On a busy machine its time may be over before.
      assert.equal((await html('<br>'.repeat(2_400_000))).kind, 'unreadable');
    },
  );
});

describe('web_extract', () => {
  test('returns a page in parts, marked as written by strangers', async (t) => {
    const long = 'word '.repeat(9_000).trim();
    const url = await serve(t, (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/plain' }).end(long);
    });
    const tool = createWebExtractTool({ egress, gate: open });
    const first = await tool.run({ url }, context);
    assert.ok(first.kind === 'finished');
    assert.equal(first.untrusted, 'web');
    assert.match(first.text, /\n\[24999 characters more: offset 20000\]$/);
    const last = await tool.run({ url, offset: 40_000 }, context);
    assert.ok(last.kind === 'finished' && last.text.endsWith('word'));
    assert.equal((await tool.run({ url, offset: 50_000 }, context)).kind, 'failed');
  });

  test('reads plain text in the character set that the server names', async (t) => {
    const url = await serve(t, (request, response) => {
      const set = request.url === '/odd' ? 'no-such-set' : 'iso-8859-1';
      response.writeHead(200, { 'content-type': `text/plain; charset=${set}` }).end(Buffer.from('caf\xe9', 'latin1'));
    });
    const tool = createWebExtractTool({ egress, gate: open });
    assert.match((await tool.run({ url }, context)).text, /\ncafé$/);
    assert.match((await tool.run({ url: `${url}/odd` }, context)).text, /\ncafé$/);
  });

  test('shows pictures, and says what it can not read', async (t) => {
    const url = await serve(t, (request, response) => {
      const type = (request.url ?? '').slice(1).replace('_', '/');
      const body = /png|jpeg/.test(type) ? png : type === 'image/webp' ? 'RIFF1234WEBPVP8X' : 'x';
      response.writeHead(type === 'gone' ? 404 : 200, { 'content-type': type }).end(body);
    });
    const png = Buffer.from('89504e470d0a1a0a0000000d494844520000000100000001', 'hex');
    const tool = createWebExtractTool({ egress, gate: open });
    // What the bytes are counts, not what they are called: no provider takes a conversation with a picture that is none.
    for (const name of ['image_png', 'image_jpeg']) {
      const picture = await tool.run({ url: `${url}/${name}` }, context);
      assert.deepEqual(picture.kind === 'finished' && picture.images, [{ mediaType: 'image/png', bytes: png }]);
    }
    assert.match(JSON.stringify(await tool.run({ url: `${url}/image_gif` }, context)), /can't be read here/);
    assert.match(JSON.stringify(await tool.run({ url: `${url}/image_webp` }, context)), /can't be shown: it is broken/);
    assert.match(JSON.stringify(await tool.run({ url: `${url}/application_zip` }, context)), /can't be read here/);
    assert.match(JSON.stringify(await tool.run({ url: `${url}/gone` }, context)), /status 404/);
    assert.match(JSON.stringify(await tool.run({ url: 'http://127.9.9.9:8080/' }, context)), /may not go/);
  });

  test('after reading strangers, an address that nobody has shown asks first', async (t) => {
    const hits: string[] = [];
    const url = await serve(t, (request, response) => response.end(hits.push(request.url ?? '') && 'ok'));
    const plans: string[] = [];
    const asking: Gate = {
      consider: async (plan) => {
        plans.push(plan.shown);
        return { kind: 'ask', question: { text: plan.shown, choices: ['Once', 'No'], deadline: 0, plan: plan.frozen } };
      },
      settle: async (asked, answer) =>
        answer === 'Once' ? { kind: 'go', frozen: asked.plan ?? '' } : { kind: 'refuse', text: 'No.' },
    };
    const tool = createWebExtractTool({ egress, gate: asking });
    const shown = `${url}/shown`;
    const marked = { ...context, untrusted: 'web' as const, wasShown: (text: string) => text === shown };
    assert.equal((await tool.run({ url: shown }, marked)).kind, 'finished');
    const made = { url: `${url}/?stolen=secret` };
    const asked = await tool.run(made, marked);
    assert.ok(asked.kind === 'ask');
    assert.deepEqual([plans, hits], [[made.url], ['/shown']]);
    assert.deepEqual(await tool.answered?.(made, 'No', marked, asked), { kind: 'failed', text: 'No.' });
    assert.equal((await tool.answered?.(made, 'Once', marked, asked))?.kind, 'finished');
    assert.deepEqual(hits, ['/shown', '/?stolen=secret']);
  });
});

describe('web_search', () => {
  const settings: WebSearchSettings = { search: 'auto', key: null, baseUrl: null, env: {} };

  test('asks those whose key is there first, and those without a key after them', () => {
    const names = (change: Partial<WebSearchSettings>) =>
      toAsk({ ...settings, ...change }).map(({ provider, key }) => `${provider.name} ${key}`.trim());
    assert.deepEqual(names({}), ['duckduckgo', 'mojeek']);
    assert.deepEqual(names({ env: { EXA_API_KEY: 'e', BRAVE_API_KEY: '' } }), ['exa e', 'duckduckgo', 'mojeek']);
    assert.deepEqual(names({ search: 'brave', key: 'b' }), ['brave b']);
    assert.deepEqual(names({ search: 'tavily', env: { TAVILY_API_KEY: 't' } }), ['tavily t']);
  });

  const pages: Record<string, string> = {
    brave: JSON.stringify({
      web: { results: [{ title: 'T &amp; <b>x</b>', url: 'https://a.test/', description: 'S' }] },
    }),
    tavily: JSON.stringify({ results: [{ title: 'T & x', url: 'https://a.test/', content: 'S' }] }),
    exa: JSON.stringify({ results: [{ title: 'T & x', url: 'https://a.test/', text: 'S' }] }),
    serper: JSON.stringify({ organic: [{ title: 'T & x', link: 'https://a.test/', snippet: 'S' }] }),
    searxng: JSON.stringify({ results: [{ title: 'T & x', url: 'https://a.test/', content: 'S' }] }),
    duckduckgo: `<a rel="nofollow" class="result__a" href="//duckduckgo.com/y.js?ad_domain=x">Ad</a>
      <h2><a rel="nofollow" class="result__a" href="//duckduckgo.com/l/?uddg=https%3A%2F%2Fa.test%2F&amp;rut=1">T &amp; x</a></h2>
      <a class="result__snippet" href="#">S</a>`,
    mojeek: `<li><h2><a title="x" class="title" href="https://a.test/">T &amp; x</a></h2><p class="s">S</p></li>`,
  };
  for (const provider of searchProviders) {
    test(`reads the answer of ${provider.name}, puts its question as it wants it, and survives nonsense`, async (t) => {
      const seen: string[] = [];
      const url = await serve(t, (request, response) => {
        let body = '';
        request.setEncoding('utf8');
        request.on('data', (chunk: string) => (body += chunk));
        request.on('end', () => {
          seen.push(`${request.method} ${request.url} ${body} ${JSON.stringify(request.headers)}`);
          response.end(pages[provider.name]);
        });
      });
      const named = { ...settings, search: provider.name, key: 'the-key', baseUrl: url };
      const tool = createWebSearchTool({ egress, settings: () => named });
      assert.deepEqual(await tool.run({ query: 'green tea' }, context), {
        kind: 'finished',
        text: '1. T & x\n   https://a.test/\n   S',
        untrusted: 'web',
      });
      assert.match(seen[0] ?? '', /green(?:\+|%20| )tea/);
      assert.equal((seen[0] ?? '').includes('the-key'), provider.keyVariable !== null);
      for (const nonsense of ['', '{', '[]', '{"results":[1,{}]}', '<a class="title"', 'null']) {
        assert.deepEqual(provider.read(nonsense), []);
      }
    });
  }

  test('what a provider lacks is said instead of being found out', async () => {
    const lacking = async (search: string) =>
      (await createWebSearchTool({ egress, settings: () => ({ ...settings, search }) }).run({ query: 'x' }, context))
        .text;
    assert.equal(await lacking('searxng'), 'No results. searxng: its owner has to set web.search_url.');
    assert.equal(await lacking('brave'), 'No results. brave: its owner has to set BRAVE_API_KEY or web.api_key.');
  });

  test('only addresses of pages are results, and they stand on one line', async (t) => {
    const found = ['https://a.test/\n\nIgnore', 'javascript:alert(1)', 'nonsense', 'file:///etc/passwd'];
    const results = found.map((url) => ({ url, title: 'T', content: '' }));
    const url = await serve(t, (_request, response) => response.end(JSON.stringify({ results })));
    const tool = createWebSearchTool({ egress, settings: () => ({ ...settings, search: 'searxng', baseUrl: url }) });
    assert.equal((await tool.run({ query: 'x' }, context)).text, '1. T\n   https://a.test/Ignore');
  });

  test('goes on to the next when one has nothing, and says why nobody had', async (t) => {
    const url = await serve(t, (_request, response) => response.writeHead(429).end());
    const tool = createWebSearchTool({ egress, settings: () => ({ ...settings, search: 'searxng', baseUrl: url }) });
    assert.deepEqual(await tool.run({ query: 'x' }, context), {
      kind: 'failed',
      text: 'No results. searxng: too many questions for now.',
    });
  });
});

/** The smallest PDF with one line of text on each page. */
function pdfOf(lines: readonly string[]): Uint8Array {
  const pages = lines.map((_, index) => `${4 + index * 2} 0 R`).join(' ');
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    `<< /Type /Pages /Kids [${pages}] /Count ${lines.length} >>`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
    ...lines.flatMap((line, index) => {
      const stream = `BT /F1 24 Tf 20 100 Td (${line}) Tj ET`;
      return [
        `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 200] /Resources << /Font << /F1 3 0 R >> >> /Contents ${5 + index * 2} 0 R >>`,
        `<< /Length ${stream.length} >>\nstream\n${stream}\nendstream`,
      ];
    }),
  ];
  let text = '%PDF-1.4\n';
  const offsets = objects.map((object, index) => {
    const at = text.length;
    text += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return at;
  });
  const table = offsets.map((at) => `${String(at).padStart(10, '0')} 00000 n \n`).join('');
  const end = `trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${text.length}\n%%EOF\n`;
  return Buffer.from(`${text}xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${table}${end}`, 'latin1');
}

/** One page of some KB that shows the same packed contents so many times. */
function pdfBomb(packed: Buffer, times: number): Uint8Array {
  const contents = Array(times).fill('4 0 R').join(' ');
  return Buffer.concat([
    Buffer.from(
      '%PDF-1.4\n1 0 obj\n<</Type/Catalog/Pages 2 0 R>>\nendobj\n2 0 obj\n<</Type/Pages/Kids[3 0 R]/Count 1>>\nendobj\n' +
        `3 0 obj\n<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Contents[${contents}]>>\nendobj\n` +
        `4 0 obj\n<</Length ${packed.byteLength}/Filter/FlateDecode>>stream\n`,
    ),
    packed,
    Buffer.from('\nendstream\nendobj\ntrailer<</Root 1 0 R>>\n%%EOF'),
  ]);
}
