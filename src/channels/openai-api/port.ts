/**
 * What the OpenAI-compatible API needs of the gateway, which supplies it. The gateway finds or makes the session, checks
 * that it is the user's, and admits the message; the API translates, and follows the session's events to the answer.
 */
import type { SessionEvent } from '../../protocol/events.ts';
import type { CallId, InboxId, SessionId, TurnId } from '../../protocol/ids.ts';
import type { Message, UserMessage } from '../../protocol/messages.ts';
import type { TokenUsage } from '../../protocol/usage.ts';

export type AskedSession =
  /** The user's stored session of this name; made if there is none. Others may have one of the same name. */
  | { readonly kind: 'named'; readonly name: string }
  /** A stored session, by an id that `waiting` has found before. */
  | { readonly kind: 'existing'; readonly id: SessionId }
  /**
   * A new session that begins with this past, under a name of the gateway's choice. `system`: what the client said as
   * system or developer, to be part of the instructions. The same `externalId` is the same session. It is deleted some
   * time after its last answer.
   */
  | {
      readonly kind: 'fresh';
      readonly history: readonly Message[];
      readonly system: string | null;
      /** Whether somebody may go on from its answer, by the answer's id. */
      readonly isContinued: boolean;
    };

export interface AskRequest {
  readonly session: AskedSession;
  readonly message: UserMessage;
  /** The bytes of every image in the message and in the past, by their hash. */
  readonly contents: readonly Content[];
  /** The same one from the same user is the same message. */
  readonly externalId: string;
  /** The name of the API key that was shown; what sessions belong to. */
  readonly user: string;
  /** One of `models`; null: whatever the session or the configuration says. */
  readonly model: string | null;
}

export interface Content {
  readonly sha256: string;
  readonly bytes: Uint8Array;
}

export type AskReceipt =
  | {
      readonly kind: 'accepted';
      readonly sessionId: SessionId;
      readonly sessionName: string;
      readonly inboxId: InboxId;
      /** It was asked before: the answer is under way or in the log. */
      readonly duplicate: boolean;
      /** Everything about this message comes after this entry. */
      readonly afterSeq: number;
    }
  /** It was a command; `text` is what it says. */
  | { readonly kind: 'handled'; readonly sessionName: string; readonly text: string }
  | { readonly kind: 'refused'; readonly reason: RefusalReason; readonly text: string };

export type RefusalReason =
  | 'too-large'
  | 'queue-full'
  | 'not-allowed'
  | 'draining'
  | 'empty'
  /** Its external id is that of another message. */
  | 'asked-otherwise';

/** What is known of a turn that has ended, besides its entries. */
export interface TurnFacts {
  /** Summed over the turn's model calls. */
  readonly usage: TokenUsage;
}

export interface OpenAiPort {
  /** Resolves once the message is stored or refused. Idempotent by user and external id. */
  ask(request: AskRequest): Promise<AskReceipt>;
  /** Under which external id this user asked it; null if it is not theirs. */
  externalId(user: string, inboxId: InboxId): Promise<string | null>;
  /** What waits in the session for its turn, oldest first; null if there is no such session, or if it is not this user's. */
  waiting(user: string, id: SessionId): Promise<readonly InboxId[] | null>;
  /**
   * Stored entries after `after`, then `live-state`, then whatever happens. Ends when the signal aborts and when the
   * reader is too slow; nothing is lost by following again from the last sequence.
   */
  follow(sessionId: SessionId, after: number, signal: AbortSignal): AsyncIterable<SessionEvent>;
  /** Ends the turn in progress. Does nothing while the gateway leaves: its turns are taken up by the next process. */
  stop(sessionId: SessionId): Promise<void>;
  /**
   * Nobody goes on with it: what its tools hold is ended. Its log stays for a while, for requests that are repeated. Waits
   * for the turn in progress; idempotent.
   */
  close(sessionId: SessionId): Promise<void>;
  /** What may be asked for by id, besides `talaria`. */
  models(): Promise<readonly { readonly id: string; readonly ownedBy: string }[]>;
  facts(sessionId: SessionId, turnId: TurnId): Promise<TurnFacts>;
}

/** Something that happens on the way to an answer, as clients are shown it. */
export type Progress =
  | { readonly tool: string; readonly state: string; readonly call_id: CallId }
  /** A call waits for a person, who can answer on the web page or in the terminal. */
  | { readonly question: string; readonly choices: readonly string[] | null; readonly call_id: CallId }
  /** What the turn waits for; empty: over. */
  | { readonly status: string }
  | { readonly notice: string }
  /** The model was interrupted and began again with other words: what it had said of this message is void. */
  | { readonly restarted: true };
