/**
 * Who can be asked to search the web, as data: how a question is put to them and how their answer is read. Reading never
 * throws: what is not understood is no result.
 */
export interface SearchHit {
  readonly title: string;
  readonly url: string;
  readonly snippet: string;
}

export interface SearchQuestion {
  readonly url: string;
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface SearchProvider {
  readonly name: string;
  /** The variable of the environment that holds its key; null if it needs none. */
  readonly keyVariable: string | null;
  /** It is somebody's own server, and nobody knows where. */
  readonly needsAddress?: true;
  ask(query: string, count: number, access: { readonly key: string; readonly baseUrl: string | null }): SearchQuestion;
  /** `text` is the body of an answer. */
  read(text: string): readonly SearchHit[];
}

const asJson = { accept: 'application/json' };
/** Search pages for people turn away what calls itself a program. */
const asBrowser = {
  accept: 'text/html',
  'accept-language': 'en',
  'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
};

export const searchProviders: readonly SearchProvider[] = [
  {
    name: 'brave',
    keyVariable: 'BRAVE_API_KEY',
    ask: (query, count, { key, baseUrl }) => ({
      url: withQuery(baseUrl ?? 'https://api.search.brave.com/res/v1/web/search', { q: query, count: String(count) }),
      method: 'GET',
      headers: { ...asJson, 'x-subscription-token': key },
    }),
    read: (text) => hits(text, ['web', 'results'], { title: 'title', url: 'url', snippet: 'description' }),
  },
  {
    name: 'tavily',
    keyVariable: 'TAVILY_API_KEY',
    ask: (query, count, { key, baseUrl }) =>
      post(
        baseUrl ?? 'https://api.tavily.com/search',
        { query, max_results: count },
        { authorization: `Bearer ${key}` },
      ),
    read: (text) => hits(text, ['results'], { title: 'title', url: 'url', snippet: 'content' }),
  },
  {
    name: 'exa',
    keyVariable: 'EXA_API_KEY',
    ask: (query, count, { key, baseUrl }) =>
      post(
        baseUrl ?? 'https://api.exa.ai/search',
        { query, numResults: count, contents: { text: { maxCharacters: 400 } } },
        { 'x-api-key': key },
      ),
    read: (text) => hits(text, ['results'], { title: 'title', url: 'url', snippet: 'text' }),
  },
  {
    name: 'serper',
    keyVariable: 'SERPER_API_KEY',
    ask: (query, count, { key, baseUrl }) =>
      post(baseUrl ?? 'https://google.serper.dev/search', { q: query, num: count }, { 'x-api-key': key }),
    read: (text) => hits(text, ['organic'], { title: 'title', url: 'link', snippet: 'snippet' }),
  },
  {
    name: 'searxng',
    keyVariable: null,
    needsAddress: true,
    ask: (query, _count, { baseUrl }) => ({
      url: withQuery(`${(baseUrl ?? '').replace(/\/(?:search)?\/?$/, '')}/search`, { q: query, format: 'json' }),
      method: 'GET',
      headers: asJson,
    }),
    read: (text) => hits(text, ['results'], { title: 'title', url: 'url', snippet: 'content' }),
  },
  {
    name: 'duckduckgo',
    keyVariable: null,
    ask: (query, _count, { baseUrl }) => ({
      url: baseUrl ?? 'https://html.duckduckgo.com/html/',
      method: 'POST',
      headers: { ...asBrowser, 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ q: query }).toString(),
    }),
    read: readDuckDuckGo,
  },
  {
    name: 'mojeek',
    keyVariable: null,
    ask: (query, _count, { baseUrl }) => ({
      url: withQuery(baseUrl ?? 'https://www.mojeek.com/search', { q: query }),
      method: 'GET',
      headers: asBrowser,
    }),
    read: (text) => anchors(text, /<a\b[^>]*class="title"[^>]*>/g, /<p\b[^>]*class="s"[^>]*>([\s\S]*?)<\/p>/),
  },
];

function withQuery(address: string, query: Readonly<Record<string, string>>): string {
  return `${address}?${new URLSearchParams(query).toString()}`;
}

function post(url: string, body: unknown, headers: Readonly<Record<string, string>>): SearchQuestion {
  return {
    url,
    method: 'POST',
    headers: { ...asJson, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  };
}

type Names = Readonly<Record<keyof SearchHit, string>>;

function hits(text: string, path: readonly string[], names: Names): SearchHit[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return [];
  }
  const list = path.reduce(fieldOf, value);
  if (!Array.isArray(list)) return [];
  return list.flatMap((item: unknown) => {
    const url = fieldOf(item, names.url);
    return typeof url === 'string'
      ? [{ url, title: words(fieldOf(item, names.title)), snippet: words(fieldOf(item, names.snippet)) }]
      : [];
  });
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined;
}

function words(value: unknown): string {
  return typeof value === 'string' ? plain(value) : '';
}

function readDuckDuckGo(text: string): SearchHit[] {
  const found = anchors(
    text,
    /<a\b[^>]*class="result__a"[^>]*>/g,
    /<a\b[^>]*class="result__snippet"[^>]*>([\s\S]*?)<\/a>/,
  );
  // Results are links over a page that counts clicks; advertisements have no address of their own there.
  return found.flatMap((hit) => {
    const counted = URL.parse(hit.url, 'https://duckduckgo.com');
    if (counted === null || counted.pathname === '/y.js') return [];
    return [{ ...hit, url: counted.searchParams.get('uddg') ?? counted.href }];
  });
}

/** Links that open with `opening`, each with the first `snippet` between it and the next. */
function anchors(text: string, opening: RegExp, snippet: RegExp): SearchHit[] {
  const starts = [...text.matchAll(opening)];
  return starts.flatMap((start, index) => {
    const from = start.index + start[0].length;
    const part = text.slice(from, starts[index + 1]?.index ?? from + 5_000);
    const url = unescaped(/\bhref="([^"]*)"/.exec(start[0])?.[1] ?? '');
    const title = plain(part.slice(0, Math.max(0, part.indexOf('</a>'))));
    return url === '' ? [] : [{ url, title, snippet: plain(snippet.exec(part)?.[1] ?? '') }];
  });
}

function plain(html: string): string {
  return unescaped(html.replaceAll(/<[^<>]{0,500}>/g, ''))
    .replaceAll(/\s+/g, ' ')
    .trim();
}

const named: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ' };

function unescaped(text: string): string {
  return text.replaceAll(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]{2,6}));/gi, (whole, decimal, hex, name) => {
    if (typeof name === 'string') return named[name.toLowerCase()] ?? whole;
    const code = typeof decimal === 'string' ? Number(decimal) : Number.parseInt(String(hex), 16);
    return code <= 0x10_ffff ? String.fromCodePoint(code) : whole;
  });
}
