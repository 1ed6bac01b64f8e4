/**
 * What the in-memory store holds: plain maps and lists that outlive every handle on them, as a disk outlives a process.
 * `Transaction` makes each change undoable, so that a verb that does not fit leaves nothing behind.
 */
import type {
  CallId,
  InboxId,
  ModelCallId,
  NodeId,
  OutboxId,
  SessionId,
  SessionKey,
  TurnId,
} from '../../src/protocol/ids.ts';
import type { Entry, TurnOutcome } from '../../src/protocol/messages.ts';
import type { ModelCallRecord, UsageSum } from '../../src/protocol/usage.ts';
import { StoreError } from '../../src/store/store.ts';
import type {
  ApiKeyRecord,
  CallRecord,
  Draft,
  GrantRecord,
  InboxRecord,
  KeyRest,
  OutboxRecord,
  PairingRequest,
  Person,
  PromptStep,
  Refusal,
  SessionRecord,
  TurnRecord,
} from '../../src/store/store.ts';

export type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

export interface LeaseRow {
  owner: NodeId;
  token: number;
  expiresAt: number;
  state: 'held' | 'released' | 'abandoned';
}

/** `channel` and `sender` are those of its first message. */
export type TurnRow = Mutable<TurnRecord> & { outcome: TurnOutcome | null; channel: string; sender: string };
/** `seq` is that of the message that asked for it. */
export type CallRow = Mutable<CallRecord> & { seq: number };
export type InboxRow = Mutable<InboxRecord> & { number: number; turnId: TurnId | null };
export type OutboxRow = Mutable<Omit<OutboxRecord, 'draftId'>> & {
  notBefore: number;
  platformId: string | null;
  settledAt: number | null;
};

export type ModelCallRow = Mutable<ModelCallRecord> & {
  readonly prompt: PromptStep;
  readonly day: string;
  readonly channel: string;
  readonly user: string;
  readonly reservedUsd: number | null;
  answerSeq: number | null;
};

export interface SessionRows {
  readonly record: Mutable<SessionRecord>;
  readonly entries: Entry[];
  readonly turns: Map<TurnId, TurnRow>;
  readonly calls: Map<CallId, CallRow>;
  readonly modelCalls: Map<ModelCallId, ModelCallRow>;
  readonly inbox: InboxRow[];
  /** Hashes of what its messages hold. */
  readonly contents: Set<string>;
  lease: LeaseRow | null;
  /** Since when somebody waits for it to be shortened. */
  wishedAt: number | null;
}

export class MemoryData {
  readonly sessions = new Map<SessionId, SessionRows>();
  readonly inbox = new Map<InboxId, InboxRow>();
  /** By channel and external id. */
  readonly arrivals = new Map<string, InboxRow>();
  readonly outbox = new Map<OutboxId, OutboxRow>();
  /** By all that its calls have in common. */
  readonly usageSums = new Map<string, Mutable<UsageSum>>();
  /** By provider and key. */
  readonly keyRests = new Map<string, KeyRest>();
  readonly contents = new Map<string, Uint8Array>();
  readonly drafts = new Map<SessionId, Draft>();
  readonly grants = new Map<number, GrantRecord>();
  /** When, by channel and external id. */
  readonly answered = new Map<string, number>();
  /** These three by channel and user; the newest refusal is the last. */
  readonly people = new Map<string, Person>();
  readonly pairings = new Map<string, PairingRequest & { readonly codeHash: string }>();
  readonly refusals = new Map<string, Refusal>();
  readonly apiKeys = new Map<string, ApiKeyRecord>();
  readonly guard = { wrong: 0, lockedUntil: 0 };
  readonly totals = { inboxNumber: 0, grantNumber: 0, turnsDone: 0, turnsFailed: 0, prefixBreaks: 0 };

  /** The one that has the key: none that is closed. */
  openSessionOf(key: SessionKey): SessionRows | undefined {
    for (const session of this.sessions.values()) {
      if (session.record.key === key && !session.record.isClosed) return session;
    }
    return undefined;
  }

  openTurnOf(session: SessionRows): TurnRow | null {
    if (session.record.turn !== 'open') return null;
    for (const turn of session.turns.values()) if (turn.state === 'open') return turn;
    return null;
  }
}

export class Transaction {
  readonly data: MemoryData;
  readonly now: number;
  readonly #undo: (() => void)[] = [];

  constructor(data: MemoryData, now: number) {
    this.data = data;
    this.now = now;
  }

  set<Key, Value>(map: Map<Key, Value>, key: Key, value: Value): void {
    const before = map.get(key);
    this.#undo.push(() => void (before === undefined ? map.delete(key) : map.set(key, before)));
    map.set(key, value);
  }

  delete<Key, Value>(map: Map<Key, Value>, key: Key): void {
    const before = map.get(key);
    if (before === undefined) return;
    this.#undo.push(() => void map.set(key, before));
    map.delete(key);
  }

  add<Item>(set: Set<Item>, item: Item): void {
    this.#undo.push(() => void set.delete(item));
    set.add(item);
  }

  push<Item>(list: Item[], item: Item): void {
    this.#undo.push(() => void list.pop());
    list.push(item);
  }

  assign<Row extends object>(row: Row, change: Partial<Row>): void {
    const before = { ...row };
    this.#undo.push(() => void Object.assign(row, before));
    Object.assign(row, change);
  }

  rollback(): void {
    for (const undo of this.#undo.splice(0).reverse()) undo();
  }
}

/** A copy that nobody can change: what is read is what was stored, whatever the reader or the writer does to it. */
export function frozenCopy<Value>(value: Value): Value {
  return freeze(structuredClone(value));
}

function freeze<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const inner of Object.values(value)) freeze(inner);
  }
  return value;
}

/** What two words together name. */
export function pair(one: string, other: string): string {
  return JSON.stringify([one, other]);
}

export function conflict(what: string): StoreError {
  return new StoreError('conflict', `This does not fit what is stored: ${what}.`);
}

export function requireOpen(session: SessionRows, turnId: TurnId): TurnRow {
  const turn = session.turns.get(turnId);
  if (turn?.state !== 'open') throw conflict(`turn ${turnId} of ${session.record.id} is not open`);
  return turn;
}
