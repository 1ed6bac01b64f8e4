/** Addresses of APIs: brought into the form that protocols build on, and what an address alone says. Never throws. */
import type { ApiMode } from './model.ts';
import type { ProviderRow } from './providers.ts';

const aggregatorHosts = ['openrouter.ai', 'nousresearch.com'];
/** As Ollama itself reads its variable: with a scheme, the scheme's port. */
const ollamaPorts: Readonly<Record<string, string>> = { http: '80', https: '443' };

/**
 * Without a slash at its end. Chat completions and responses are below an address that ends in `/v1` or the like;
 * Anthropic's path begins with `/v1` itself, so an address must not end with it.
 */
export function baseUrlFor(row: ProviderRow, apiMode: ApiMode, configured: string | null): string {
  const url = (configured ?? '').trim() === '' ? usualBaseUrl(row, apiMode) : (configured ?? '').trim();
  const trimmed = url.replace(/\/+$/, '');
  if (apiMode === 'anthropic_messages') return trimmed.replace(/\/v1$/, '');
  // People know a local server by its host and port.
  return row.reach === 'local' && !hasPath(trimmed) ? `${trimmed}/v1` : trimmed;
}

function usualBaseUrl(row: ProviderRow, apiMode: ApiMode): string {
  return apiMode === 'anthropic_messages' ? (row.anthropicBaseUrl ?? row.baseUrl) : row.baseUrl;
}

function hasPath(url: string): boolean {
  return /^[a-z]+:\/\/[^/]+\/./i.test(url);
}

/** Lower case, without brackets; empty if there is none. */
export function hostOf(url: string): string {
  return /^[a-z]+:\/\/(?:[^@/]*@)?(?:\[([^\]]*)\]|([^/:?#]*))/i.exec(url)?.slice(1).join('').toLowerCase() ?? '';
}

export function isAggregator(url: string): boolean {
  const host = hostOf(url);
  return aggregatorHosts.some((name) => host === name || host.endsWith(`.${name}`));
}

/** On this machine, or an address that only a private network has. */
export function isLocal(url: string): boolean {
  const host = hostOf(url);
  if (host === '') return false;
  if (/^(localhost|::1|0\.0\.0\.0|host\.docker\.internal)$/.test(host)) return true;
  if (/^(127|10)\.\d+\.\d+\.\d+$|^192\.168\.\d+\.\d+$|^172\.(1[6-9]|2\d|3[01])\.\d+\.\d+$/.test(host)) return true;
  return /\.(local|lan|internal|localhost)$/.test(host) || /^f[cd][0-9a-f]{2}:/.test(host);
}

/** Where Ollama listens, as its own variable says it: `host`, `host:port`, `:port` or a whole address. */
export function ollamaAddress(environment: Readonly<Record<string, string | undefined>>): string {
  const said = Object.hasOwn(environment, 'OLLAMA_HOST') ? (environment['OLLAMA_HOST']?.trim() ?? '') : '';
  const [, scheme = '', host = '', port = '', path = ''] =
    /^(?:(https?):\/\/)?(\[[^\]]*\]|[^:/]*)(?::(\d{1,5}))?(\/.*)?$/i.exec(said) ?? [];
  const usualPort = ollamaPorts[scheme.toLowerCase()] ?? '11434';
  // An address to listen on is no address to call.
  const callable = /^(|0\.0\.0\.0|\[::\])$/.test(host) ? '127.0.0.1' : host;
  const address = `${scheme.toLowerCase() || 'http'}://${callable}:${port || usualPort}`;
  return `${address}${path.replace(/\/+$/, '')}`;
}
