/** Which proxy the environment asks for, in the form that Node's agents take. Pure. */

const proxyNames = ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'https_proxy'];
const bypassNames = ['NO_PROXY', 'no_proxy'];

export type Environment = Readonly<Record<string, string | undefined>>;

/** Undefined if there is none, and for this machine itself, which no proxy can reach. */
export function proxyEnvFor(url: URL, env: Environment): Record<string, string> | undefined {
  if (isLoopback(url.hostname)) return undefined;
  const chosen = Object.entries(env).filter(
    ([name, value]) => value !== undefined && value !== '' && [...proxyNames, ...bypassNames].includes(name),
  );
  if (!chosen.some(([name]) => proxyNames.includes(name))) return undefined;
  return Object.fromEntries(chosen.map(([name, value]) => [name, value ?? '']));
}

function isLoopback(hostname: string): boolean {
  return (
    hostname === 'localhost' || hostname.endsWith('.localhost') || hostname === '[::1]' || hostname.startsWith('127.')
  );
}
