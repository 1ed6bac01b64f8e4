/**
 * The contract of the one way out to the internet for everything that a model or a stranger can choose the address of:
 * web tools, the browser, commands with a host allowed. Addresses are judged when a connection is made, not when a name
 * is read, so that no redirect, no second answer of a name server and no spelling of a number leads to this machine or its
 * neighbours.
 */
import type { Duplex } from 'node:stream';

export interface EgressRequest {
  readonly url: string;
  readonly method?: 'GET' | 'POST' | 'HEAD';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** More than this of a body, uncompressed, is an error. */
  readonly bytesMax: number;
  /** From the request to the last byte. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

export interface EgressResponse {
  readonly status: number;
  /** Lower case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** Where it came from in the end. */
  readonly url: string;
}

export type EgressReason =
  /** It leads to where nobody may go. */
  | 'forbidden'
  | 'bad-address'
  | 'not-found'
  | 'unreachable'
  | 'timeout'
  | 'too-large'
  | 'too-many-redirects'
  | 'aborted';

export class EgressError extends Error {
  override readonly name = 'EgressError';
  readonly reason: EgressReason;

  /** `message` is for the model and the user. */
  constructor(reason: EgressReason, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}

export interface Egress {
  /** Follows redirects, each judged anew; credentials never go to another origin. Throws an `EgressError`. */
  fetch(request: EgressRequest): Promise<EgressResponse>;
  /** A connection to the first allowed address of this host. Throws an `EgressError`. */
  connect(host: string, port: number, signal: AbortSignal): Promise<Duplex>;
}

/** A proxy (HTTP and CONNECT) over an egress, for programs that only know proxies. */
export interface EgressProxy {
  /** `http://127.0.0.1:PORT` or the path of a socket. */
  readonly address: string;
  close(): Promise<void>;
}
