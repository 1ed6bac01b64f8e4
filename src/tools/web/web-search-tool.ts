/**
 * The tool `web_search`: titles, addresses and snippets. With a key the provider it belongs to is asked, else pages that
 * need none, one after the other until one answers. What comes back was written by strangers.
 */
import * as z from 'zod/mini';
import { defineTool } from '../define-tool.ts';
import { EgressError, type Egress, type EgressResponse } from '../egress.ts';
import { boundText } from '../output-bound.ts';
import type { Tool, ToolOutcome } from '../tool.ts';
import { searchProviders, type SearchHit, type SearchProvider } from './search-providers.ts';

const countUsual = 8;
const countMax = 20;
const snippetCharsMax = 400;
const answerBytesMax = 3_000_000;
const answerMs = 15_000;
/** Asked in this order where there is no key. */
const keyless = ['duckduckgo', 'mojeek'];

export interface WebSearchDeps {
  readonly egress: Egress;
  /** As the configuration has it now. */
  readonly settings: () => WebSearchSettings;
}

export interface WebSearchSettings {
  /** A provider's name, or `auto`. */
  readonly search: string;
  readonly key: string | null;
  readonly baseUrl: string | null;
  readonly env: Readonly<Record<string, string | undefined>>;
}

const schema = z.strictObject({
  query: z.string().check(z.minLength(1), z.maxLength(500)),
  count: z.optional(z.int().check(z.minimum(1), z.maximum(countMax))),
});

export function createWebSearchTool({ egress, settings }: WebSearchDeps): Tool<z.output<typeof schema>> {
  return defineTool({
    name: 'web_search',
    description: 'Searches the web: titles, addresses, snippets. Read pages with web_extract.',
    effect: 'read',
    replay: 'safe',
    schema,
    async run({ query, count = countUsual }, { signal }): Promise<ToolOutcome> {
      const problems: string[] = [];
      for (const { provider, key, baseUrl } of toAsk(settings())) {
        const lacking = whatItLacks({ provider, key, baseUrl });
        if (lacking !== null) {
          problems.push(`${provider.name}: ${lacking}`);
          continue;
        }
        const question = provider.ask(query, count, { key, baseUrl });
        const asked = { ...question, bytesMax: answerBytesMax, timeoutMs: answerMs, signal };
        const answer = await egress.fetch(asked).catch((error: unknown) => problemOf(error));
        if (typeof answer === 'string') problems.push(`${provider.name}: ${answer}`);
        else if (answer.status !== 200) problems.push(`${provider.name}: ${statusWords(answer)}`);
        else {
          const found = webAddresses(provider.read(new TextDecoder().decode(answer.body))).slice(0, count);
          if (found.length > 0) return { kind: 'finished', text: boundText(shown(found)), untrusted: 'web' };
          problems.push(`${provider.name}: nothing found`);
        }
      }
      return { kind: 'failed', text: `No results. ${problems.join('; ')}.` };
    },
  });
}

interface Asked {
  readonly provider: SearchProvider;
  readonly key: string;
  readonly baseUrl: string | null;
}

/** Pure: who is asked, in order. */
export function toAsk({ search, key, baseUrl, env }: WebSearchSettings): readonly Asked[] {
  const keyOf = (provider: SearchProvider) => env[provider.keyVariable ?? ''] ?? null;
  if (search !== 'auto') {
    return searchProviders
      .filter(({ name }) => name === search)
      .map((provider) => ({ provider, key: key ?? keyOf(provider) ?? '', baseUrl }));
  }
  const withKey = searchProviders.flatMap((provider) => {
    const own = keyOf(provider);
    return own === null || own === '' ? [] : [{ provider, key: own, baseUrl: null }];
  });
  const without = keyless.flatMap((wanted) => searchProviders.filter(({ name }) => name === wanted));
  return [...withKey, ...without.map((provider) => ({ provider, key: '', baseUrl: null }))];
}

/** Null if it can be asked. */
function whatItLacks({ provider, key, baseUrl }: Asked): string | null {
  if (provider.needsAddress === true && baseUrl === null) return 'its owner has to set web.search_url';
  if (provider.keyVariable !== null && key === '') return `its owner has to set ${provider.keyVariable} or web.api_key`;
  return null;
}

/** Each in the one spelling that it is shown in; what leads elsewhere than to a page is no result. */
function webAddresses(hits: readonly SearchHit[]): SearchHit[] {
  return hits.flatMap((hit) => {
    const url = URL.parse(hit.url);
    return url !== null && /^https?:$/.test(url.protocol) ? [{ ...hit, url: url.href }] : [];
  });
}

function problemOf(error: unknown): string {
  if (error instanceof EgressError) return error.message.replace(/\.$/, '');
  throw error;
}

function statusWords({ status }: EgressResponse): string {
  if (status === 401 || status === 403) return 'refused; is its key right?';
  return status === 429 ? 'too many questions for now' : `answered with status ${status}`;
}

function shown(found: readonly SearchHit[]): string {
  return found
    .map(({ title, url, snippet }, index) => {
      const more = snippet === '' ? '' : `\n   ${boundedLine(snippet)}`;
      return `${index + 1}. ${boundedLine(title)}\n   ${url}${more}`;
    })
    .join('\n');
}

function boundedLine(text: string): string {
  return text.length <= snippetCharsMax ? text : `${text.slice(0, snippetCharsMax).toWellFormed()}…`;
}
