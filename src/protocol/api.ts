/**
 * The local API: what every front end (terminal, one-shot, browser) can ask of a running Talaria. It is spoken over
 * HTTP to a gateway, and called directly when the program runs by itself; both ways behave the same.
 */
import type { SessionEvent } from './events.ts';
import type { CallId, InboxId, SessionId, SessionKey } from './ids.ts';

export interface SessionSummary {
  readonly id: SessionId;
  readonly name: string;
  readonly key: SessionKey;
  /** The first words of the conversation; empty before it has any. */
  readonly title: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly state: 'idle' | 'running' | 'parked';
  /** User and assistant messages. */
  readonly messages: number;
  readonly lastSeq: number;
}

export interface SendRequest {
  /** Name or id; a name that does not exist yet creates the session. Null: a new session with a name of its own. */
  readonly session: string | null;
  readonly text: string;
  /** Chosen by the client; sending the same one again is the same message, not another. */
  readonly externalId: string;
  /** Which front end asks: the first part of the session's key. */
  readonly channel: 'web' | 'cli';
}

export interface SendReceipt {
  readonly sessionId: SessionId;
  readonly sessionName: string;
  readonly inboxId: InboxId;
  readonly duplicate: boolean;
  /** The log's last sequence before this message was admitted: follow from here to miss nothing. */
  readonly afterSeq: number;
}

export interface SearchHit {
  readonly sessionId: SessionId;
  readonly sessionName: string;
  readonly seq: number;
  readonly at: number;
  readonly role: 'user' | 'assistant' | 'tool';
  /** The surroundings of the hit, with the matching words between ‹ and ›. */
  readonly snippet: string;
}

export interface StatusReport {
  readonly version: string;
  readonly pid: number;
  readonly uptime_s: number;
  readonly sessions: number;
  readonly agent_cache: { size: number; cap: number; active: number; hits: number; misses: number; evictions: number };
  readonly turns: { running: number; queued: number; done: number; failed: number; parked: number };
  readonly outbox: { pending: number };
  readonly sandbox: string;
  readonly store: string;
  readonly usage: { input_tokens: number; cached_tokens: number; output_tokens: number; usd: number | null };
  readonly model: { provider: string; name: string };
  /** `problems` is empty while the file in force is the file on disk; otherwise the last good one goes on. */
  readonly config: { path: string; loaded_at: number; problems: readonly string[] };
}

export type ParkedAction = 'retry' | 'drop';

export interface TalariaApi {
  status(): Promise<StatusReport>;
  /** Newest first. */
  sessions(page: { limit: number; before?: number }): Promise<readonly SessionSummary[]>;
  /** By name or id; null if there is none. */
  session(ref: string): Promise<SessionSummary | null>;
  send(request: SendRequest): Promise<SendReceipt>;
  /** Stored entries after `after`, then `live-state`, then whatever happens, until the signal aborts. */
  events(ref: string, after: number, signal: AbortSignal): AsyncIterable<SessionEvent>;
  /** Ends the turn in progress; false if there is none. */
  stop(ref: string): Promise<boolean>;
  /** Answers the question of a call that waits; false if it does not wait, or has its answer. */
  answer(ref: string, callId: CallId, text: string): Promise<boolean>;
  /** Tries the session's parked turn again, or gives it up; false if none is parked. */
  parked(ref: string, action: ParkedAction): Promise<boolean>;
  delete(ref: string): Promise<boolean>;
  search(query: string, limit: number): Promise<readonly SearchHit[]>;
  /** JSON lines that `import` reads back. */
  export(ref: string): AsyncIterable<string>;
  import(lines: AsyncIterable<string>, name: string | null): Promise<SessionSummary>;
  /** The whole home as a .tar.gz, consistent although everything goes on. */
  backup(): AsyncIterable<Uint8Array>;
}

/** Every failure of the API, over HTTP as `{ "error": { "reason", "message" } }` with a fitting status. */
export type ApiErrorReason =
  | 'bad-request'
  | 'unauthorized'
  | 'forbidden'
  | 'not-found'
  | 'too-large'
  | 'busy'
  | 'draining'
  | 'unreachable'
  | 'failed';

export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly reason: ApiErrorReason;

  /** `message` is for the user: what happened and what to do. */
  constructor(reason: ApiErrorReason, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}

/**
 * How the API is spelt over HTTP. Bodies are JSON unless said otherwise; `:ref` is a session's name or id, URL-encoded.
 *
 *   GET    /api/status                          StatusReport
 *   GET    /api/sessions?limit=&before=         { sessions: SessionSummary[] }
 *   GET    /api/sessions/:ref                   SessionSummary
 *   GET    /api/sessions/:ref/events?after=     server-sent events: `data` is a SessionEvent, `id` an entry's seq;
 *                                               a reconnect's Last-Event-ID counts as `after`
 *   POST   /api/messages                        SendRequest -> SendReceipt
 *   POST   /api/sessions/:ref/stop              { stopped: boolean }
 *   POST   /api/sessions/:ref/answers           { callId, text } -> { answered: boolean }
 *   DELETE /api/sessions/:ref                   { deleted: boolean }
 *   GET    /api/search?q=&limit=                { hits: SearchHit[] }
 *   GET    /api/sessions/:ref/export            JSON lines
 *   POST   /api/import?name=                    JSON lines -> SessionSummary
 *   POST   /api/backup                          -> the bytes of a .tar.gz
 *   POST   /api/login                           { key } -> 204 and a cookie, where a key is configured
 *
 * Where a key is configured, every route but the last wants it: `Authorization: Bearer KEY`, or the cookie.
 */
export const apiPrefix = '/api';

/** The largest message a person can send, in UTF-8 bytes. */
export const messageBytesMax = 1_000_000;
/** How many messages may wait in one session before further ones are refused with a notice. */
export const waitingMessagesMax = 32;
