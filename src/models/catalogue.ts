/**
 * Finds what is known of a model under the many names it goes by: with a date, `-latest`, a vendor before a slash, a
 * variant after a colon. Of a model that is newer than the data only that is known which its whole family can do;
 * limits and prices are never guessed.
 */
import { catalogue, type CatalogueRow } from './catalogue-data.ts';
import type { Price } from './model.ts';

export { cataloguedOn } from './catalogue-data.ts';

export type KnownModel = Omit<CatalogueRow, 'names'>;

/** Whose models the vendors of OpenRouter's names are. */
const vendors: Readonly<Record<string, string>> = {
  anthropic: 'anthropic',
  openai: 'openai',
  google: 'google',
  deepseek: 'deepseek',
  'x-ai': 'xai',
  'z-ai': 'zai',
  moonshotai: 'moonshot',
  mistralai: 'mistral',
  nousresearch: 'nous',
};

/** Those that cost the same wherever they are offered; open models have another price at every house. */
const closedVendors: ReadonlySet<string> = new Set(['anthropic', 'openai', 'google', 'xai']);

const free: Price = { input: 0, cachedInput: 0, cacheWrite: 0, cacheWriteLong: 0, output: 0 };

/** Variants that change how a call is routed, not what it costs. */
const plainVariants: ReadonlySet<string> = new Set(['', 'beta', 'exacto', 'thinking', 'extended']);

const thinks = { reasons: true, seesImages: false } as const;
const thinksAndSees = { reasons: true, seesImages: true } as const;

/** What all models of a family can do, by how their names begin. */
const families: Readonly<Record<string, readonly (readonly [RegExp, typeof thinks | typeof thinksAndSees])[]>> = {
  anthropic: [[/^claude-[a-z]+-\d/, thinksAndSees]],
  openai: [[/^(?:gpt-(?:[5-9]|\d\d)(?!.*chat)|o[3-9])/, thinksAndSees]],
  google: [[/^gemini-[3-9](?!.*(?:image|live|tts))/, thinksAndSees]],
  deepseek: [[/^deepseek-/, thinks]],
  xai: [[/^grok-[4-9](?!.*non-reasoning)/, thinksAndSees]],
  zai: [[/^glm-[5-9]/, thinks]],
  moonshot: [[/^kimi-/, thinks]],
};

export function findModel(provider: string, model: string): KnownModel | null {
  const [, vendor = '', name = '', variant = ''] =
    /^(?:~?([^/]+)\/)?(?:models\/)?([^:]*)(?::(.*))?$/.exec(model.trim().toLowerCase()) ?? [];
  switch (provider) {
    case 'openrouter':
    case 'nous':
      return offeredByOthers(provider, vendor, name, variant);
    case 'openai-codex':
      // Paid for by the month.
      return withoutPrice(lookUp('openai', name));
    case 'custom':
      return withoutPrice(lookUp(vendors[vendor] ?? '', name) ?? lookUpAnywhere(name));
    default:
      return lookUp(provider, name);
  }
}

function offeredByOthers(provider: string, vendor: string, name: string, variant: string): KnownModel | null {
  const family = vendors[vendor];
  const found = family === undefined ? null : lookUp(family, name);
  if (found === null) return null;
  if (variant === 'free') return { ...found, price: free, longPrice: null };
  const isPriced = provider === 'openrouter' && closedVendors.has(family ?? '') && plainVariants.has(variant);
  return isPriced ? found : withoutPrice(found);
}

function withoutPrice(found: KnownModel | null): KnownModel | null {
  return found === null ? null : { ...found, price: null, longPrice: null };
}

function lookUpAnywhere(name: string): KnownModel | null {
  for (const family of Object.keys(catalogue)) {
    const found = lookUp(family, name);
    if (found !== null) return found;
  }
  return null;
}

function lookUp(family: string, name: string): KnownModel | null {
  const rows = Object.hasOwn(catalogue, family) ? (catalogue[family] ?? []) : [];
  for (const candidate of candidatesOf(name)) {
    const found = rows.find(({ names }) => names.some((known) => plain(known) === candidate));
    if (found !== undefined) {
      const { names: _, ...known } = found;
      return known;
    }
  }
  return ofFamily(family, name);
}

function ofFamily(family: string, name: string): KnownModel | null {
  const patterns = Object.hasOwn(families, family) ? (families[family] ?? []) : [];
  const can = patterns.find(([pattern]) => pattern.test(plain(name)))?.[1];
  if (can === undefined) return null;
  return { contextLength: null, outputTokensMax: null, ...can, price: null, longPrice: null, quirks: [] };
}

/** The name itself, then without what may stand at its end: a date, `-latest`, `-preview`. */
function candidatesOf(name: string): string[] {
  const candidates = [plain(name)];
  const ending = /(?:[-@](?:20\d{6}|20\d{2}-\d{2}-\d{2}|latest|preview)|-preview-\d{2}-\d{2,4})$/;
  for (let shorter = plain(name); ending.test(shorter);) {
    shorter = shorter.replace(ending, '');
    candidates.push(shorter);
  }
  return candidates;
}

/** Some write 4.5 where others write 4-5. */
function plain(name: string): string {
  return name.toLowerCase().replaceAll('.', '-');
}
