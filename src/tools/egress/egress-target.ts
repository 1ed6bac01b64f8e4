/** Where a request may go at all, as far as its address can tell: the scheme, the port, the host's name. Pure. */
import { EgressError } from '../egress.ts';

const urlCharsMax = 8_000;
const schemePorts: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 };

/** Above the system's ports, those that browsers do not open either: mail, chat, files, telephones. */
const otherServicesPorts = new Set([
  1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
]);

export interface Target {
  readonly url: URL;
  /** Without brackets. */
  readonly host: string;
  readonly port: number;
  readonly isSecure: boolean;
}

/** Throws an `EgressError`. */
export function readTarget(text: string, base?: URL): Target {
  if (text.length > urlCharsMax) throw new EgressError('bad-address', 'The address is too long.');
  const url = URL.parse(text, base?.href);
  if (url === null) throw new EgressError('bad-address', `${JSON.stringify(text.slice(0, 200))} is no web address.`);
  const usual = schemePorts[url.protocol];
  if (usual === undefined) {
    throw new EgressError('bad-address', `Only http and https can be fetched, not ${url.protocol.slice(0, -1)}.`);
  }
  if (url.username !== '' || url.password !== '') {
    throw new EgressError('bad-address', 'An address with a name or password in it is not fetched.');
  }
  const port = url.port === '' ? usual : Number(url.port);
  return { url, host: plainHost(url.hostname), port: checkedPort(port), isSecure: url.protocol === 'https:' };
}

/** A host as it stands in an address, spelled in the one way that all spellings of it have. Throws an `EgressError`. */
export function readHost(text: string): string {
  const url = /[/?#@\\\s]/.test(text) ? null : URL.parse(`http://${text.includes(':') ? `[${text}]` : text}`);
  if (url === null || url.port !== '' || url.pathname !== '/') {
    throw new EgressError('bad-address', `${JSON.stringify(text.slice(0, 200))} is no host.`);
  }
  return plainHost(url.hostname);
}

export function checkedPort(port: number): number {
  const isWeb = port === 80 || port === 443;
  if (!Number.isInteger(port) || port > 65_535 || (!isWeb && port < 1024) || otherServicesPorts.has(port)) {
    throw new EgressError('forbidden', `Port ${port} is not one of the web's.`);
  }
  return port;
}

/** Whether a list of hosts has this one: by name, by `*.name` for all below it, or by `*` for every one. */
export function isListedHost(list: readonly string[], host: string): boolean {
  const name = host.toLowerCase().replace(/\.$/, '');
  return list.some((entry) => {
    const wanted = entry.toLowerCase();
    if (wanted === '*') return true;
    return wanted.startsWith('*.') ? name.endsWith(wanted.slice(1)) && name.length >= wanted.length : name === wanted;
  });
}

function plainHost(hostname: string): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
}
