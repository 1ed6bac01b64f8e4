/** What tests and other processes can ask of a model server. */
import type { Protocol } from './dialect.ts';
import type { Reply } from './dialogue.ts';
import type { FaultOrder } from './faults/fault-queue.ts';
import type { CacheOptions } from './prompt-cache.ts';
import type { RequestRecord } from './request-log.ts';

export interface ModelServerOptions {
  readonly port?: number;
  /** Null: every key that is not empty, and none where none is sent. */
  readonly keys?: readonly string[] | null;
  /** Those it lists. It answers as any model, except as one whose name begins with `no-such`. */
  readonly models?: readonly string[];
  readonly windowTokens?: number;
  readonly bodyBytesMax?: number;
  readonly cache?: CacheOptions;
}

/** A reply that was ordered; the filters as with faults. */
export interface ReplyOrder {
  readonly reply: Reply;
  readonly times?: number;
  readonly protocol?: Protocol;
  readonly model?: string;
}

export interface ModelServer {
  /** Without a slash at the end. */
  readonly url: string;
  readonly port: number;
  /** What a provider of this protocol is configured with as its base URL. */
  baseUrl(protocol: Protocol): string;
  /** Newest last. */
  requests(): readonly RequestRecord[];
  /** Says this next, instead of what the script would. */
  order(order: ReplyOrder): void;
  inject(order: FaultOrder): void;
  /** Forgets faults and replies that wait, and the requests so far. The caches stay. */
  reset(): void;
  /** Makes its clock go on; caches grow old by it. */
  advance(byMs: number): void;
  /** Hears of every request when it came and when it ended. */
  onEvent(listener: (event: ServerEvent) => void): () => void;
  /** Resolves once all connections are closed. */
  close(): Promise<void>;
}

export interface ServerEvent {
  readonly kind: 'request' | 'ended';
  readonly record: RequestRecord;
}
