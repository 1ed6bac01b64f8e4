/**
 * The contract of the store: what survives a crash, in domain verbs. Every driver passes `store-suite.ts`.
 *
 * - A verb is one transaction: all of it or nothing, durable before its promise resolves.
 * - Whatever changes a session's turn goes through `commit`, which checks the session's lease inside the same
 *   transaction; an owner that lost its lease can write nothing, however late it wakes up.
 * - Anyone may admit a message, ask for a stop, or read.
 * - Failures are `StoreError`s. Nothing is swallowed: a caller that sees an error knows that nothing was written.
 */
import type { CallId, InboxId, ModelCallId, NodeId, OutboxId, SessionId, SessionKey, TurnId } from '../protocol/ids.ts';
import type {
  AssistantMessage,
  CallOutcome,
  CompressionStep,
  DeliveredNotice,
  Entry,
  Head,
  HeadReason,
  NoticeCause,
  Question,
  SentFile,
  ToolMessage,
  TurnOutcome,
  UserMessage,
} from '../protocol/messages.ts';
import type { SearchHit, SessionSettings, TimeSpan } from '../protocol/api.ts';
import type { Effort, ModelCallPurpose, ModelCallRecord, PrefixReason, Usage, UsageSum } from '../protocol/usage.ts';

// --- records -------------------------------------------------------------------------------------------------------

export interface SessionRecord {
  readonly id: SessionId;
  readonly key: SessionKey;
  /** A unique handle for people. */
  readonly name: string;
  readonly title: string;
  /** Whose words the title is: the first message's, a model's or a person's. */
  readonly titledBy: 'words' | 'model' | 'person';
  readonly settings: SessionSettings;
  /** Whose it is: nobody else's prompt, search or memory sees it. `owner` for the machine's own front ends. */
  readonly owner: string;
  /** Closed for good: messages to its key go to another session. What it has left to do is still done. */
  readonly isClosed: boolean;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** Sequence of the newest entry; 0 for an empty log. */
  readonly lastSeq: number;
  /** User and assistant messages in the log, without those that nobody wrote. */
  readonly messages: number;
  readonly turn: 'none' | 'open' | 'parked';
}

export interface TurnRecord {
  readonly id: TurnId;
  readonly sessionId: SessionId;
  readonly state: 'open' | 'closed' | 'parked';
  readonly openedAt: number;
  /** How often the process died while this turn was open. */
  readonly crashes: number;
  /** How many model calls were started in it, without those that failed. */
  readonly modelCalls: number;
  readonly stopRequested: boolean;
  /** Sequence of the turn's first entry. */
  readonly firstSeq: number;
}

/** `waiting`: it has asked a person something, and goes on with the answer or without one. */
export type CallState = 'planned' | 'started' | 'waiting' | CallOutcome;

export interface CallRecord {
  readonly id: CallId;
  readonly turnId: TurnId;
  /** Place among the calls of one assistant message, from 0. */
  readonly position: number;
  readonly name: string;
  readonly arguments: string;
  /** As the tool declared them when the call was stored. */
  readonly effect: 'read' | 'write' | 'self';
  readonly replay: 'safe' | 'attach' | 'never';
  readonly state: CallState;
  /** What it asked, while it waits. */
  readonly question: Question | null;
  /** What a person answered; null while nobody has. */
  readonly answer: string | null;
}

export interface InboxRecord {
  readonly id: InboxId;
  readonly sessionId: SessionId;
  readonly channel: string;
  readonly externalId: string;
  /** Who wrote it, in the channel's own words. */
  readonly sender: string;
  readonly message: UserMessage;
  /** Where the answer goes within the channel, in the channel's own words. */
  readonly target: string;
  readonly receivedAt: number;
  /** Whether it joins a turn under way or waits for its end; null: as the turn's settings have it. */
  readonly joins: boolean | null;
  /** `promoted`: it is a message of an open turn. `answered`: that turn is closed. */
  readonly state: 'waiting' | 'promoted' | 'answered';
}

/** What leads from a stored session to its next action, read at one moment. */
export interface JournalSlice {
  readonly session: SessionRecord;
  /** Entries after the asked-for sequence, in order. */
  readonly entries: readonly Entry[];
  readonly openTurn: TurnRecord | null;
  /** Calls of the open turn that have no result yet, in the order of the message that asked for them. */
  readonly unsettledCalls: readonly CallRecord[];
  /** Oldest first. */
  readonly waiting: readonly InboxRecord[];
}

export interface OutboxRecord {
  readonly id: OutboxId;
  /** Null for what belongs to no session. */
  readonly sessionId: SessionId | null;
  readonly turnId: TurnId | null;
  readonly channel: string;
  /** The place within the channel, in the channel's own words. */
  readonly target: string;
  readonly text: string;
  /** Choices under the text. */
  readonly buttons: readonly ReplyButton[];
  /** What is sent; the text is its caption then, and may be empty. Null if the text is all. */
  readonly file: SentFile | null;
  /** The session's draft on this channel and target, by the platform's id: the first part takes its place. A file's doesn't. */
  readonly draftId: string | null;
  /** `attempting`: the network may or may not have seen it. */
  readonly state: 'pending' | 'attempting' | 'sent' | 'failed';
  /** How often the part that is next was begun to be sent, this time included. */
  readonly attempts: number;
  /** How many parts of the text have arrived. */
  readonly partsSent: number;
  /** Whether an earlier attempt at the part that is next may have arrived: its outcome is unknown. */
  readonly maybeSent: boolean;
}

/** Turns done and failed, and usage, are since the store began: removing a session takes nothing away from them. */
export interface StoreTotals {
  readonly sessions: number;
  readonly turnsOpen: number;
  readonly turnsDone: number;
  readonly turnsFailed: number;
  readonly turnsParked: number;
  readonly inboxWaiting: number;
  readonly outboxPending: number;
  readonly usage: Usage;
  /** Model calls whose price is not known: `usage.usd` says nothing about them. */
  readonly unpricedCalls: number;
  /** Prompts that broke their prefix with no reason on record. */
  readonly prefixBreaks: number;
}

/** A key that had better be left alone for a while. Others are asked first. */
export interface KeyRest {
  readonly provider: string;
  readonly keyId: string;
  readonly reason: string;
  readonly until: number;
}

/** A message on a platform that shows work in progress. A session has one at most. */
export interface Draft {
  readonly sessionId: SessionId;
  readonly channel: string;
  readonly target: string;
  readonly platformId: string;
}

/** A permission that lasts: for one session, or (null) for all. The same one is there once. */
export interface GrantRecord {
  /** Counts up, and is never used again. */
  readonly id: number;
  readonly sessionId: SessionId | null;
  /** What kind of thing was allowed, in the words of whoever asks. */
  readonly kind: string;
  /** What exactly; compared as it is. */
  readonly subject: string;
  /** As it was shown to the person. */
  readonly shown: string;
  readonly grantedAt: number;
}

/** How the newest prompt of a session on one runtime began: what the next one must begin with. */
export interface PromptTrail {
  /** A hash per unit of the prompt. */
  readonly units: readonly string[];
  /** Sequence of the head entry that was in force. */
  readonly headSeq: number;
  readonly effort: Effort | null;
}

// --- admission -----------------------------------------------------------------------------------------------------

/** Bytes by their hash. */
export interface Content {
  readonly sha256: string;
  readonly bytes: Uint8Array;
}

export interface Admission {
  readonly inboxId: InboxId;
  readonly channel: string;
  readonly externalId: string;
  readonly sender: string;
  readonly message: UserMessage;
  /** The bytes of what the message holds; kept by their hash, each once. */
  readonly contents: readonly Content[];
  readonly target: string;
  /** An existing session, or one to create if no open session has this key. */
  readonly session:
    | { readonly kind: 'existing'; readonly id: SessionId }
    | {
        readonly kind: 'by-key';
        readonly key: SessionKey;
        readonly id: SessionId;
        readonly name: string;
        readonly owner: string;
      };
  /** As in the record; left out is null. */
  readonly joins?: boolean;
  /** Used as the title of a session that has none. */
  readonly title: string;
  /** More waiting messages than this in the session, and the message is refused. */
  readonly waitingMax: number;
}

export type AdmitResult =
  | { readonly kind: 'admitted'; readonly inboxId: InboxId; readonly session: SessionRecord; readonly created: boolean }
  /** This channel and external id was admitted before; `record` is what became of it. */
  | { readonly kind: 'duplicate'; readonly record: InboxRecord; readonly session: SessionRecord }
  | { readonly kind: 'refused'; readonly reason: 'queue-full' | 'no-such-session' };

// --- leases --------------------------------------------------------------------------------------------------------

/** Proof of owning a session. `token` grows with every grant, so that an older one can be told from a newer one. */
export interface Lease {
  readonly sessionId: SessionId;
  readonly owner: NodeId;
  readonly token: number;
}

// --- writes under a lease ------------------------------------------------------------------------------------------

export interface PlannedCall {
  readonly id: CallId;
  readonly name: string;
  readonly arguments: string;
  readonly effect: CallRecord['effect'];
  readonly replay: CallRecord['replay'];
}

export interface ReplyButton {
  readonly label: string;
  /** At most 64 bytes. */
  readonly value: string;
}

export interface Reply {
  readonly outboxId: OutboxId;
  readonly channel: string;
  readonly target: string;
  readonly text: string;
  readonly buttons: readonly ReplyButton[];
  /** With the text as its caption. `conflict` if the session does not hold its bytes, or there is no session. */
  readonly file?: SentFile;
}

/** One verb inside a `commit`. A transaction is a list of them: a value, so that it can cross threads and be replayed. */
export type SessionWrite =
  /** Appends a `head` entry: the prompt's frozen start from now on. */
  | { readonly verb: 'freeze-head'; readonly reason: HeadReason; readonly head: Head }
  /** Opens the session's turn and promotes these waiting messages into it, in this order. */
  | { readonly verb: 'open-turn'; readonly turnId: TurnId; readonly promote: readonly InboxId[] }
  /** Promotes waiting messages into the turn that is open already. */
  | { readonly verb: 'join-turn'; readonly turnId: TurnId; readonly promote: readonly InboxId[] }
  /**
   * A call of a turn, or of a side job between turns. Calls of the session that are still `started` were lost with their
   * process: they become `lost`, at what was reserved for them. Throws `over-budget` if what was spent, what is reserved
   * by calls under way and this reservation together are more than a limit of `budget`.
   */
  | {
      readonly verb: 'start-model-call';
      readonly modelCallId: ModelCallId;
      readonly turnId: TurnId | null;
      readonly purpose: ModelCallPurpose;
      readonly provider: string;
      readonly model: string;
      readonly keyId: string;
      readonly prompt: PromptStep;
      /** The day it counts for: `YYYY-MM-DD`. */
      readonly day: string;
      /** The most it may cost; null if no price is known. */
      readonly reservedUsd: number | null;
      /** 0 is no limit. */
      readonly budget: { readonly sessionUsd: number; readonly dayUsd: number };
    }
  /** `failed` takes it out of the turn's count. What it used is added to the sums of its day, channel and user. */
  | {
      readonly verb: 'end-model-call';
      readonly modelCallId: ModelCallId;
      readonly outcome: 'completed' | 'failed' | 'cancelled';
      readonly usage: Usage | null;
      readonly error: string | null;
    }
  /** Appends the model's message and plans its calls, before any of them may start. */
  | {
      readonly verb: 'append-answer';
      readonly turnId: TurnId;
      readonly modelCallId: ModelCallId;
      readonly message: AssistantMessage;
      readonly calls: readonly PlannedCall[];
      /** As in the entry. */
      readonly promptTokens?: number;
    }
  /** Appends a message that nobody wrote: what the program has to tell the model. */
  | { readonly verb: 'append-nudge'; readonly turnId: TurnId; readonly message: UserMessage }
  /** planned or waiting -> started. */
  | { readonly verb: 'start-call'; readonly turnId: TurnId; readonly callId: CallId }
  /** started -> waiting, appends a notice with the question, and queues what asks the person. */
  | {
      readonly verb: 'ask';
      readonly turnId: TurnId;
      readonly callId: CallId;
      readonly question: Question;
      readonly reply: Reply | null;
    }
  /** planned, started or waiting -> settled; appends the result, keeps its bytes and queues what it sends, together. */
  | {
      readonly verb: 'settle-call';
      readonly turnId: TurnId;
      readonly callId: CallId;
      readonly message: ToolMessage;
      /** Of the result's images and files. */
      readonly contents?: readonly Content[];
      readonly replies?: readonly Reply[];
    }
  /** Appends a `rewound` entry: messages after `toSeq` leave the prompt, not the log. `conflict` while a turn is open. */
  | { readonly verb: 'rewind'; readonly toSeq: number }
  /**
   * Appends a `compression` entry, and queues what tells the person who asked. `conflict` if it is about places that the
   * log does not have, and while a call is unsettled whose result it would come before.
   */
  | { readonly verb: 'compress'; readonly step: CompressionStep; readonly reply?: Reply }
  /** Replaces a title made of the first words; ignored if a person gave one. */
  | { readonly verb: 'set-title'; readonly title: string; readonly by: 'words' | 'model' | 'person' }
  /** A word to the people in the session that no model sees. With a reply it is also sent to where they are. */
  | {
      readonly verb: 'notice';
      readonly turnId: TurnId | null;
      readonly text: string;
      readonly reply?: Reply;
      readonly delivery?: DeliveredNotice;
      readonly cause?: NoticeCause;
    }
  /** Closes (or parks) the turn, marks its messages answered and queues the reply, together. */
  | {
      readonly verb: 'close-turn';
      readonly turnId: TurnId;
      readonly outcome: TurnOutcome;
      readonly reply: Reply | null;
    };

/** What a prompt has in common with the one before it on the same runtime, and what it adds. */
export interface PromptStep {
  /** Which runtime, as `runtimeId` says. */
  readonly runtime: string;
  /** How many first units are those of the newest prompt on this runtime. */
  readonly kept: number;
  /** The hashes of the units after those. */
  readonly added: readonly string[];
  /** Null exactly if all units of the newest prompt on this runtime were kept. */
  readonly prefixBreak: PrefixReason | null;
  readonly headSeq: number;
  readonly effort: Effort | null;
}

// --- deliveries ----------------------------------------------------------------------------------------------------

export type DeliverySettlement =
  | { readonly kind: 'sent'; readonly platformId: string | null }
  /** `maybeSent`: whether the platform may have it all the same. */
  | { readonly kind: 'retry'; readonly notBefore: number; readonly maybeSent: boolean; readonly error: string }
  | { readonly kind: 'failed'; readonly error: string };

/** A message that no turn wrote: a command's answer, a word to a stranger, `talaria send`. */
export interface DirectMessage extends Reply {
  readonly sessionId: SessionId | null;
  /** What it answers: the same message is answered once. Null if it answers none. */
  readonly answers: { readonly channel: string; readonly externalId: string } | null;
}

// --- people --------------------------------------------------------------------------------------------------------

export type Role = 'owner' | 'user';

/** Somebody who may write on a channel because a person said so; those in the configuration are not here. */
export interface Person {
  readonly channel: string;
  readonly userId: string;
  readonly name: string;
  readonly role: Role;
  readonly addedAt: number;
}

/** A stranger who was given a code. The code itself is kept by its hash only. */
export interface PairingRequest {
  readonly channel: string;
  readonly userId: string;
  readonly name: string;
  readonly createdAt: number;
  readonly expiresAt: number;
}

export interface PairingLimits {
  /** Pending at the same time on one channel. */
  readonly pendingMax: number;
  /** Wrong codes before nobody can be approved for `lockMs`. */
  readonly wrongMax: number;
  readonly lockMs: number;
}

export type PairingResult =
  | { readonly kind: 'requested' }
  /** The same person has one that is still good: no other code is given out. */
  | { readonly kind: 'pending' }
  | { readonly kind: 'full' };

export type ApprovalResult =
  | { readonly kind: 'approved'; readonly person: Person }
  /** No pending request has this code, or it has expired. */
  | { readonly kind: 'wrong'; readonly triesLeft: number }
  | { readonly kind: 'locked'; readonly until: number };

export interface Refusal {
  readonly channel: string;
  readonly userId: string;
  readonly name: string;
  readonly count: number;
  readonly lastAt: number;
}

/** A named key of the HTTP API, by its hash. */
export interface ApiKeyRecord {
  readonly name: string;
  readonly sha256: string;
  readonly createdAt: number;
}

// --- export --------------------------------------------------------------------------------------------------------

/** A session outside the store, as `sessions export` writes it and `sessions import` reads it. */
export interface PortableSession {
  readonly name: string;
  readonly title: string;
  readonly createdAt: number;
  readonly entries: readonly Entry[];
}

// --- search --------------------------------------------------------------------------------------------------------

export interface SearchScope extends TimeSpan {
  /** Only their sessions. */
  readonly owner?: string;
}

// --- the store -----------------------------------------------------------------------------------------------------

/** Reads see everything whose promise has resolved. They never wait for a writer. */
export interface StoreReader {
  session(id: SessionId): Promise<SessionRecord | null>;
  sessionByName(name: string): Promise<SessionRecord | null>;
  sessionByKey(key: SessionKey): Promise<SessionRecord | null>;
  /** Newest activity first; `before` is an `updatedAt`. With an owner, only theirs. */
  sessions(page: {
    readonly limit: number;
    readonly before?: number;
    readonly owner?: string;
  }): Promise<readonly SessionRecord[]>;
  entries(id: SessionId, page: { readonly after: number; readonly limit: number }): Promise<readonly Entry[]>;
  /** A negative `afterSeq` counts from the end: so many of the newest entries. */
  journal(id: SessionId, afterSeq: number): Promise<JournalSlice | null>;
  inbox(id: InboxId): Promise<InboxRecord | null>;
  /** The turn a message was promoted into; null while it waits. */
  turnOfInbox(id: InboxId): Promise<TurnId | null>;
  /** Sessions with a waiting message, an open turn or a wish to be shortened: what there is to do, oldest first. */
  sessionsWithWork(limit: number): Promise<readonly SessionId[]>;
  totals(): Promise<StoreTotals>;
  /** Every model call of the session, or of one turn of it, oldest first. */
  modelCalls(id: SessionId, turnId?: TurnId): Promise<readonly ModelCallRecord[]>;
  /** How the newest prompt of this session on this runtime began; null if there was none. */
  promptTrail(id: SessionId, runtime: string): Promise<PromptTrail | null>;
  /** Sums of finished model calls from this day on, newest day first. Removing a session takes nothing away. */
  usageSums(sinceDay: string): Promise<readonly UsageSum[]>;
  /** Keys that rest beyond this time. */
  keyRests(now: number): Promise<readonly KeyRest[]>;
  /** The bytes with this hash; null if there are none. */
  content(sha256: string): Promise<Uint8Array | null>;
  /** Whether this session refers to the bytes with this hash. */
  holdsContent(id: SessionId, sha256: string): Promise<boolean>;
  /** Oldest first. */
  grants(): Promise<readonly GrantRecord[]>;
  /** Whether exactly this was allowed, for this session or for all. */
  isGranted(id: SessionId, kind: string, subject: string): Promise<boolean>;
  people(): Promise<readonly Person[]>;
  /** Those whose code is still good, oldest first. */
  pairings(now: number): Promise<readonly PairingRequest[]>;
  /** Strangers who were turned away, newest first; the oldest are forgotten beyond 1,000. */
  refusals(limit: number): Promise<readonly Refusal[]>;
  apiKeys(): Promise<readonly ApiKeyRecord[]>;
  /** Whether a direct message that answers this one was queued. */
  wasAnswered(channel: string, externalId: string): Promise<boolean>;
  /** The drafts that stand on a channel, wherever they are. */
  drafts(channel: string): Promise<readonly Draft[]>;
}

export interface Store {
  /** For people: which driver, which file or server. */
  readonly description: string;
  readonly read: StoreReader;

  /** Stores an arriving message and, if need be, its session. Unique by channel and external id. */
  admit(admission: Admission): Promise<AdmitResult>;

  /**
   * Becomes the session's one owner until `ttlMs` from now; null while another owner's lease is valid, and for a
   * session that is not there. If the lease before was another owner's, or of an earlier run, was never released, and
   * a turn is open, then that owner died in it: the turn's `crashes` goes up by one. Model calls that were started under
   * an earlier lease become `lost`.
   */
  acquireLease(sessionId: SessionId, owner: NodeId, ttlMs: number): Promise<Lease | null>;
  /** Prolongs every lease that this owner still holds. */
  renewLeases(owner: NodeId, ttlMs: number): Promise<void>;
  /** Gives the session up in good order; model calls still under way become `lost`. A lease that is not held any more is ignored. */
  releaseLease(lease: Lease): Promise<void>;

  /** All writes or none. Throws `lease-lost` if the lease is not the newest, `conflict` if a verb doesn't fit. */
  commit(lease: Lease, writes: readonly SessionWrite[]): Promise<void>;

  /** Marks the open turn to be stopped; false if none is open. Needs no lease: the owner sees it. */
  requestStop(sessionId: SessionId): Promise<boolean>;

  /** Gives a waiting call its answer; false if it does not wait, or has one. Needs no lease: the owner sees it. */
  answerCall(sessionId: SessionId, callId: CallId, answer: string): Promise<boolean>;

  /** Closes the session for good; false if it is closed or not there. */
  closeSession(sessionId: SessionId): Promise<boolean>;
  /** Opens the session (again) under this key; the one that had the key is closed. False if it is not there. */
  reopenSession(sessionId: SessionId, key: SessionKey): Promise<boolean>;

  /** Queues it; false if what it answers was answered before. */
  queueMessage(message: DirectMessage): Promise<boolean>;
  /** Remembers the session's draft, or (null) that there is none any more. A delivered first part forgets it too. */
  noteDraft(sessionId: SessionId, draft: Omit<Draft, 'sessionId'> | null): Promise<void>;

  /** Gives a stranger a code, by its hash. Expired requests do not count. */
  requestPairing(
    request: PairingRequest & { readonly codeHash: string },
    limits: PairingLimits,
  ): Promise<PairingResult>;
  /** A right code is used up. Wrong ones are counted over restarts; after `wrongMax` in a row nobody gets in for `lockMs`. */
  approvePairing(codeHash: string, role: Role, limits: PairingLimits): Promise<ApprovalResult>;
  /** Without a code, by somebody who may. */
  addPerson(person: Omit<Person, 'addedAt'>): Promise<void>;
  removePerson(channel: string, userId: string): Promise<boolean>;
  recordRefusal(refusal: Pick<Refusal, 'channel' | 'userId' | 'name'>): Promise<void>;

  /** Throws `conflict` if the name is taken. */
  addApiKey(key: Omit<ApiKeyRecord, 'createdAt'>): Promise<void>;
  removeApiKey(name: string): Promise<boolean>;

  /** Remembers a permission; one that is there already stays as it is. That of a session that is gone is not kept. */
  addGrant(grant: Omit<GrantRecord, 'id' | 'grantedAt'>): Promise<void>;
  /** False if there is none with this id. */
  removeGrant(id: number): Promise<boolean>;

  /** Replaces the session's settings; false if it is not there. Needs no lease: the owner sees it at its next turn. */
  changeSettings(sessionId: SessionId, settings: SessionSettings): Promise<boolean>;

  /** Lets a key rest; a later `until` wins. */
  restKey(rest: KeyRest): Promise<void>;
  /** The key works again. */
  wakeKey(provider: string, keyId: string): Promise<void>;

  /**
   * Takes due deliveries (of these channels, if they are named), oldest first, and records that an attempt begins. One
   * per session (or per channel and target, without one) at a time, in order.
   */
  claimDeliveries(owner: NodeId, limit: number, channels?: readonly string[]): Promise<readonly OutboxRecord[]>;
  /**
   * One more part of a delivery under way has arrived; the attempt goes on as the next part's first. Throws `conflict`
   * if the delivery is not being attempted; ignored if its session was removed meanwhile.
   */
  recordPartSent(id: OutboxId, platformId: string | null): Promise<void>;
  /** `sent`: the last part has arrived. Throws and ignores like `recordPartSent`. */
  settleDelivery(id: OutboxId, settlement: DeliverySettlement): Promise<void>;

  /**
   * Opens the session's newest parked turn again, its crashes and a stop forgotten, and leaves a notice; false if none
   * is parked. Throws `conflict` while somebody owns the session, and if turns came after the parked one: it can't go
   * on from where the conversation is now.
   */
  retryParked(sessionId: SessionId): Promise<boolean>;
  /**
   * Gives the session's newest parked turn up as failed and leaves a notice; false if none is parked. Throws `conflict`
   * while somebody owns the session.
   */
  dropParked(sessionId: SessionId): Promise<boolean>;

  /** Removes a session and all that belongs to it; false if there was none. Throws `conflict` while its turn is open and leased. */
  deleteSession(id: SessionId): Promise<boolean>;
  /**
   * Throws `conflict` if the name is taken. Numbers the entries anew; leaves out a turn that was not closed. Bytes that
   * the entries name and the store has are the session's, too.
   */
  importSession(id: SessionId, key: SessionKey, owner: string, session: PortableSession): Promise<SessionRecord>;

  /**
   * Full text over all messages within the scope, by the rules of `lib/search-terms.ts`: whole words first, then parts of
   * words, each newest first. Without any words, but with a time: what was said then, newest first. Never on the main loop.
   */
  search(query: string, limit: number, scope?: SearchScope): Promise<readonly SearchHit[]>;
  /** Builds the search index anew; the old one answers until it is done. */
  rebuildSearch(): Promise<void>;
  /** Writes a consistent copy of the database to this path while everything goes on. */
  snapshot(path: string): Promise<void>;
  /** What is wrong with the stored data; empty if nothing is. */
  checkIntegrity(): Promise<readonly string[]>;

  /** Waits for writes under way and closes. Idempotent. */
  close(): Promise<void>;
}

export type StoreErrorReason =
  | 'lease-lost'
  | 'conflict'
  | 'over-budget'
  | 'held'
  | 'disk-full'
  | 'read-only'
  | 'damaged'
  | 'newer-schema'
  | 'unavailable';

export class StoreError extends Error {
  override readonly name = 'StoreError';
  readonly reason: StoreErrorReason;

  /** `message` is for the user: what happened and what to do. */
  constructor(reason: StoreErrorReason, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}
