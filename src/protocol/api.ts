/**
 * The local API: what every front end (terminal, one-shot, browser) can ask of a running Talaria. It is spoken over
 * HTTP to a gateway, and called directly when the program runs by itself; both ways behave the same.
 */
import type { SessionEvent } from './events.ts';
import type { CallId, InboxId, SessionId, SessionKey } from './ids.ts';
import type { Effort, ModelCallRecord, UsageSum } from './usage.ts';

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
  readonly settings: SessionSettings;
}

/** What a user chose for one session; null: as the configuration says. */
export interface SessionSettings {
  /** `PROVIDER/NAME`, or a name of the configured provider. */
  readonly model: string | null;
  readonly effort: Effort | null;
}

/** What a change of settings comes to, before or after it is made. */
export interface SettingsQuote {
  readonly settings: SessionSettings;
  /** The model that the next turn will ask, as `PROVIDER/NAME`. */
  readonly model: string;
  /** Tokens of the prompt that the provider's cache will not have any more; an estimate. */
  readonly uncachedTokens: number;
  /** What they cost more than cached ones would; null if no price is known. */
  readonly usd: number | null;
}

export interface SendRequest {
  /** Name or id; a name that does not exist yet creates the session. Null: a new session with a name of its own. */
  readonly session: string | null;
  readonly text: string;
  /** Chosen by the client; sending the same one again is the same message, not another. */
  readonly externalId: string;
  /** Which front end asks: the first part of the session's key. */
  readonly channel: 'web' | 'cli';
  /** Nobody is there to answer a question: what would ask is refused. */
  readonly isUnattended?: true;
}

export interface SendReceipt {
  readonly sessionId: SessionId;
  readonly sessionName: string;
  readonly inboxId: InboxId;
  readonly duplicate: boolean;
  /** The log's last sequence before this message was admitted: follow from here to miss nothing. */
  readonly afterSeq: number;
}

/** What became of a line as a person typed it. */
export type SayReceipt =
  | ({ readonly kind: 'message' } & SendReceipt)
  | {
      readonly kind: 'command';
      /** Where the person is now, by name; null: the next line begins a new session. */
      readonly session: string | null;
      /** What it says, where no session's log can hold it; null: it is in the log, or was said before. */
      readonly text: string | null;
    };

export interface PressReceipt {
  /** For the one who pressed. */
  readonly word: string;
  /** Where they are now; null: the next line begins a new session. */
  readonly session: string | null;
}

/** From `after` on, up to and without `before`. */
export interface TimeSpan {
  readonly after?: number;
  readonly before?: number;
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
  readonly agent_cache: {
    size: number;
    cap: number;
    active: number;
    hits: number;
    misses: number;
    /** Released to make room, or memory. */
    evictions: number;
    /** Released because they were idle for too long. */
    sweeps: number;
    /** Released for whatever reason. */
    releases: number;
  };
  readonly turns: { running: number; queued: number; done: number; failed: number; parked: number };
  readonly outbox: { pending: number };
  /** The level that proved itself; `not yet proved` before the first command. */
  readonly sandbox: string;
  /** What sessions' tools hold: shells, processes, browsers. Times are in ms since 1970. */
  readonly held: readonly {
    session: string;
    kind: string;
    what: string;
    started_at: number;
    used_at: number;
    busy: boolean;
  }[];
  /** `state` is off, waiting, connecting, ready, failed or sign-in-needed; `problem` says why not. */
  readonly mcp_servers: readonly { name: string; state: string; tools: number; problem: string | null }[];
  readonly store: string;
  /** Since the store began. `usd` is of the calls with a known price; null if there is none among them. */
  readonly usage: {
    input_tokens: number;
    cached_tokens: number;
    output_tokens: number;
    reasoning_tokens: number;
    usd: number | null;
    unpriced_calls: number;
    /** Of today, on the gateway's calendar. */
    today_usd: number;
  };
  /** The configured one, or the one that was found. */
  readonly model: { provider: string; name: string };
  /** Those that take over when it fails, in order. */
  readonly fallback: readonly { provider: string; name: string }[];
  /** Every key in use, by its fingerprint; `rests_until` (ms since 1970) is null for one that works. */
  readonly keys: readonly { provider: string; key: string; reason: string | null; rests_until: number | null }[];
  /** Prompts that did not begin as they had to, with no reason on record. A bug if not 0. */
  readonly prefix_breaks: number;
  /** `problems` is empty while the file in force is the file on disk; otherwise the last good one goes on. */
  readonly config: { path: string; loaded_at: number; problems: readonly string[] };
}

export type ParkedAction = 'retry' | 'drop';

export type PersonRole = 'owner' | 'user';

/** Who may write on the channels of platforms, who asked to, and who was turned away. */
export interface PeopleReport {
  readonly people: readonly {
    readonly channel: string;
    readonly userId: string;
    readonly name: string;
    readonly role: PersonRole;
    readonly addedAt: number;
  }[];
  /** They were given a code, which they tell to whoever may approve them. */
  readonly pending: readonly {
    readonly channel: string;
    readonly userId: string;
    readonly name: string;
    readonly expiresAt: number;
  }[];
  readonly refused: readonly {
    readonly channel: string;
    readonly userId: string;
    readonly name: string;
    readonly count: number;
    readonly lastAt: number;
  }[];
}

/** A tool as it is listed for people. */
export interface ToolSummary {
  readonly name: string;
  readonly toolsets: readonly string[];
  readonly effect: 'read' | 'write' | 'self';
  /** What telling a model about it takes of every prompt. */
  readonly bytes: number;
}

/** What a prompt begins with. */
export interface PromptView {
  /** In their order; of those that have nothing to say the text is empty. */
  readonly sections: readonly { readonly name: string; readonly text: string }[];
  readonly tools: readonly { readonly name: string; readonly bytes: number }[];
}

export interface PromptReport {
  /** The name of the session; null if none was asked about. */
  readonly session: string | null;
  /** Null before its first turn. */
  readonly frozen: PromptView | null;
  /** Of one like it that would begin now. */
  readonly fresh: PromptView;
}

/** Something that was allowed for longer than once. */
export interface GrantSummary {
  readonly id: number;
  /** The one session that it is for; null: all. */
  readonly sessionId: SessionId | null;
  readonly kind: string;
  /** As it was shown when it was allowed. */
  readonly shown: string;
  readonly grantedAt: number;
}

export interface TalariaApi {
  status(): Promise<StatusReport>;
  /** Newest first. */
  sessions(page: { limit: number; before?: number }): Promise<readonly SessionSummary[]>;
  /** By name or id; null if there is none. */
  session(ref: string): Promise<SessionSummary | null>;
  /** A message to the agent, whatever it says. */
  send(request: SendRequest): Promise<SendReceipt>;
  /** A line as a person typed it: a chat command is carried out, anything else is a message. */
  say(request: SendRequest): Promise<SayReceipt>;
  /** A button under a notice in the session's log. */
  press(ref: string, value: string, externalId: string): Promise<PressReceipt>;
  /** Stored entries after `after`, then `live-state`, then whatever happens, until the signal aborts. */
  events(ref: string, after: number, signal: AbortSignal): AsyncIterable<SessionEvent>;
  /** Ends the turn in progress; false if there is none. */
  stop(ref: string): Promise<boolean>;
  /** Answers the question of a call that waits; false if it does not wait, or has its answer. */
  answer(ref: string, callId: CallId, text: string): Promise<boolean>;
  /** Tries the session's parked turn again, or gives it up; false if none is parked. */
  parked(ref: string, action: ParkedAction): Promise<boolean>;
  /** Changes a session's settings from its next model call on. `dryRun`: only says what that would cost. */
  settings(ref: string, change: Partial<SessionSettings>, dryRun: boolean): Promise<SettingsQuote>;
  /** Every model call of the session, oldest first. */
  modelCalls(ref: string): Promise<readonly ModelCallRecord[]>;
  /** What models used since this day (`YYYY-MM-DD`), today included. */
  usage(sinceDay: string): Promise<readonly UsageSum[]>;
  people(): Promise<PeopleReport>;
  /** Lets the one in who was given this code. `not-found` for a wrong one, `busy` while too many were wrong. */
  approve(code: string, role: PersonRole): Promise<PeopleReport['people'][number]>;
  revoke(channel: string, userId: string): Promise<boolean>;
  /** Sends a text through a channel, with no model: `CHANNEL:PLACE`, as in a session's key. */
  sendTo(target: string, text: string): Promise<void>;
  /** Names of keys for the HTTP API; the keys themselves are kept by their hashes only. */
  apiKeys(): Promise<readonly { readonly name: string; readonly createdAt: number }[]>;
  /** Makes a key and says it, this once. */
  addApiKey(name: string): Promise<string>;
  removeApiKey(name: string): Promise<boolean>;
  /** All tools that there are, sorted by name. */
  tools(): Promise<readonly ToolSummary[]>;
  /** What the session's prompt begins with, and that of a new one; null: only the latter. */
  prompt(ref: string | null): Promise<PromptReport>;
  /** What was allowed for longer than once, oldest first. */
  grants(): Promise<readonly GrantSummary[]>;
  /** From the next call on it asks again; false if there is no such grant. */
  revokeGrant(id: number): Promise<boolean>;
  delete(ref: string): Promise<boolean>;
  /** Whole words first, then parts of words, newest first; without words, what was said within the time. */
  search(query: string, limit: number, span?: TimeSpan): Promise<readonly SearchHit[]>;
  /** Builds the index that searches use anew, beside the one in use; everything goes on meanwhile. */
  rebuildSearch(): Promise<void>;
  /** Bytes that a session refers to; null if there are none with this hash. */
  content(sha256: string): Promise<Uint8Array | null>;
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
 *   POST   /api/say                             SendRequest -> SayReceipt
 *   POST   /api/sessions/:ref/press             { value, externalId } -> PressReceipt
 *   POST   /api/sessions/:ref/stop              { stopped: boolean }
 *   POST   /api/sessions/:ref/answers           { callId, text } -> { answered: boolean }
 *   POST   /api/sessions/:ref/parked            { action } -> { done: boolean }
 *   POST   /api/sessions/:ref/settings          { model?, effort?, dryRun? } -> SettingsQuote
 *   GET    /api/sessions/:ref/model-calls       { calls: ModelCallRecord[] }
 *   GET    /api/usage?since=YYYY-MM-DD          { sums: UsageSum[] }
 *   DELETE /api/sessions/:ref                   { deleted: boolean }
 *   GET    /api/people                          PeopleReport
 *   POST   /api/people/approve                  { code, role } -> one of its people
 *   POST   /api/people/revoke                   { channel, userId } -> { revoked: boolean }
 *   POST   /api/send                            { target, text } -> { queued: true }
 *   GET    /api/keys                            { keys: { name, createdAt }[] }
 *   POST   /api/keys                            { name } -> { key }
 *   DELETE /api/keys/:name                      { removed: boolean }
 *   GET    /api/tools                           { tools: ToolSummary[] }
 *   GET    /api/prompt?session=                 PromptReport
 *   GET    /api/grants                          { grants: GrantSummary[] }
 *   DELETE /api/grants/:id                      { removed: boolean }
 *   GET    /api/search?q=&limit=&after=&before= { hits: SearchHit[] }
 *   POST   /api/search/rebuild                  { rebuilt: true }
 *   GET    /api/contents/:sha256?name=          the bytes
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
