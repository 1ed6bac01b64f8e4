/**
 * Who may talk to this server at all, told from the headers alone. On loopback without a key, the browser is the
 * danger: any page may send requests here, and a name may be made to point here. So the host must be this machine's
 * own name and a page's origin must be this server's. Pure.
 */
export interface GuardedRequest {
  readonly method: string;
  header(name: string): string | undefined;
}

const ownNames = new Set(['localhost', '127.0.0.1', '[::1]', '::1']);
const fromElsewhere = 'Requests from other web pages are refused.';

/** Why this request is refused; null if it may pass. `loopback`: the server listens on this machine only. */
export function originProblem(request: GuardedRequest, loopback: boolean): string | null {
  const host = request.header('host') ?? '';
  if (loopback && !isLoopback(hostName(host))) {
    return `This server answers to localhost only, not to ${JSON.stringify(host.slice(0, 100))}.`;
  }
  const origin = request.header('origin');
  if (origin !== undefined && originHost(origin) !== host.toLowerCase()) {
    return fromElsewhere;
  }
  // A page that was merely navigated to may be read by its own user; anything else from another site may not.
  const site = request.header('sec-fetch-site');
  const navigation = request.header('sec-fetch-mode') === 'navigate' && request.method === 'GET';
  if ((site === 'cross-site' || site === 'same-site') && !navigation) {
    return fromElsewhere;
  }
  return null;
}

export function isLoopback(host: string): boolean {
  return ownNames.has(host.toLowerCase()) || /^127\.\d+\.\d+\.\d+$/.test(host);
}

function hostName(host: string): string {
  return host.toLowerCase().replace(/:\d+$/, '');
}

function originHost(origin: string): string | null {
  const match = /^https?:\/\/([^/?#]+)$/i.exec(origin);
  return match?.[1]?.toLowerCase() ?? null;
}
