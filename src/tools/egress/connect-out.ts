/**
 * Opens a connection to a host by one of its addresses that may be reached. The name is asked for once, and the connection
 * goes to an address that was judged: a name server that answers differently a moment later changes nothing.
 */
import { lookup } from 'node:dns/promises';
import { connect, isIP, type Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import { EgressError } from '../egress.ts';
import { checkedPort, isListedHost, readHost } from './egress-target.ts';
import { isOwnNetwork, type Interfaces } from './own-network.ts';
import { isPublicAddress } from './public-address.ts';

const addressesTriedMax = 4;
const connectMs = 10_000;

export interface ConnectOutDeps {
  /** Hosts that may be reached although their addresses are not public. */
  readonly privateHosts: () => readonly string[];
  /** All addresses of a name. */
  readonly resolve?: (host: string) => Promise<readonly string[]>;
  readonly isPublic?: (address: string) => boolean;
  /** Of this machine. */
  readonly interfaces?: () => Interfaces;
}

/** Throws an `EgressError`. */
export async function connectOut(
  { privateHosts, resolve = resolveByName, isPublic = isPublicAddress, interfaces = networkInterfaces }: ConnectOutDeps,
  given: { readonly host: string; readonly port: number },
  signal: AbortSignal,
): Promise<Socket> {
  const host = readHost(given.host);
  const port = checkedPort(given.port);
  const addresses = await resolved(host, resolve, signal);
  const isElsewhere = (address: string) => isPublic(address) && !isOwnNetwork(address, interfaces());
  const allowed = isListedHost(privateHosts(), host) ? addresses : addresses.filter(isElsewhere);
  if (allowed.length === 0) throw new EgressError('forbidden', forbiddenText(host));
  let last: unknown = null;
  for (const address of allowed.slice(0, addressesTriedMax)) {
    try {
      return await connectTo(address, port, signal);
    } catch (error) {
      if (signal.aborted) throw new EgressError('aborted', 'It was interrupted.');
      last = error;
    }
  }
  const reason = last instanceof Error ? last.message : 'no answer';
  throw new EgressError('unreachable', `${host} can't be reached: ${reason}.`, { cause: last });
}

function forbiddenText(host: string): string {
  return `${host} leads to this machine or its network, where web tools may not go. Its owner can allow it in web.private_hosts.`;
}

async function resolved(
  host: string,
  resolve: (host: string) => Promise<readonly string[]>,
  signal: AbortSignal,
): Promise<readonly string[]> {
  if (isIP(host) !== 0) return [host];
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(new EgressError('aborted', 'It was interrupted.'));
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort, { once: true });
  try {
    // A name server that never answers is waited for no longer than anything else.
    return await Promise.race([aborted.promise, resolve(host)]);
  } catch (error) {
    if (error instanceof EgressError) throw error;
    throw new EgressError('not-found', `There is no host named ${host}, or names can't be looked up here now.`, {
      cause: error,
    });
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

async function resolveByName(host: string): Promise<readonly string[]> {
  return (await lookup(host, { all: true, verbatim: true })).map(({ address }) => address);
}

function connectTo(address: string, port: number, signal: AbortSignal): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  const socket = connect({ host: address, port, noDelay: true });
  const abort = () => socket.destroy(new Error('interrupted'));
  socket.setTimeout(connectMs, () => socket.destroy(new Error('no answer in time')));
  socket.once('connect', () => {
    socket.setTimeout(0);
    resolve(socket);
  });
  socket.once('error', reject);
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort, { once: true });
  // What happens to the connection later is its user's to see.
  return promise.finally(() => {
    signal.removeEventListener('abort', abort);
    socket.off('error', reject);
    socket.on('error', () => {});
  });
}
