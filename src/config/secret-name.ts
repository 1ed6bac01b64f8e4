/** Under which name a secret goes into `.env`: the one that its key already reads, or the name people know it by. */
import { valueOf, type Environment } from './environment.ts';
import { valueAt, type KeyPath } from './key-tree.ts';

const knownNames: Readonly<Record<string, string>> = {
  'channels.telegram.token': 'TELEGRAM_BOT_TOKEN',
  'channels.telegram.webhook_token': 'TELEGRAM_WEBHOOK_TOKEN',
  'channels.discord.token': 'DISCORD_BOT_TOKEN',
  'channels.slack.bot_token': 'SLACK_BOT_TOKEN',
  'channels.slack.app_token': 'SLACK_APP_TOKEN',
  'channels.api.key': 'TALARIA_API_KEY',
  'web.api_key': 'WEB_API_KEY',
  'store.url': 'TALARIA_STORE_URL',
};

export interface SecretNameDeps {
  /** config.yaml as it is written, before `${NAME}` is replaced. */
  readonly written: unknown;
  readonly env: Environment;
}

export interface SecretToName {
  /** What is being changed; names that are read only there are free again. */
  readonly changed: KeyPath;
  readonly path: KeyPath;
  readonly secret: string;
  /** Of the model whose key it is, if it is one. */
  readonly provider: string | null;
  /** Whether another secret of the same change has this name. */
  readonly isTaken: (name: string) => boolean;
}

export function secretName(deps: SecretNameDeps, { changed, path, secret, provider, isTaken }: SecretToName): string {
  const used = new Set(referencesIn(deps.written, changed));
  // The environment wins over `.env`: a name that means something else there would never be read from the file.
  const isFree = (name: string) => !used.has(name) && !isTaken(name) && (valueOf(deps.env, name) ?? secret) === secret;
  const before = valueAt(deps.written, path);
  const present = typeof before === 'string' ? /^\$\{(\w+)\}$/.exec(before)?.[1] : undefined;
  if (present !== undefined && isFree(present)) return present;
  const base = usualName(path, provider);
  for (let number = 1; ; number++) {
    const name = number === 1 ? base : `${base}_${number}`;
    if (isFree(name)) return name;
  }
}

function usualName(path: KeyPath, provider: string | null): string {
  const known = knownNames[path.join('.')];
  if (known !== undefined) return known;
  const keys = path.filter((step) => !/^\d+$/.test(String(step)));
  if (keys.at(-1) === 'api_key') return `${upper(provider ?? 'model')}_API_KEY`;
  const [first, ...rest] = keys;
  // `mcp_servers.github.env.TOKEN` is MCP_GITHUB_TOKEN.
  if (first === 'mcp_servers') return upper(['mcp', rest[0], ...rest.slice(2)].join('_'));
  return upper(keys.join('_'));
}

function upper(text: string): string {
  return text.toUpperCase().replace(/[^A-Z0-9]+/g, '_');
}

/** The names that are read anywhere but at or below `except`. */
export function referencesIn(value: unknown, except: KeyPath): string[] {
  if (except.length === 0) return [];
  if (typeof value === 'string') return [...value.matchAll(/\$\{(\w+)\}/g)].map((match) => match[1] ?? '');
  if (typeof value !== 'object' || value === null) return [];
  const [step, ...rest] = except;
  const nowhere = ['\0'];
  return Object.entries(value).flatMap(([key, inner]) => referencesIn(inner, key === String(step) ? rest : nowhere));
}
