/**
 * The contract of a channel: how one platform says what the gateway understands. A channel turns what arrives into
 * an `InboundMessage` and hands it to `receive`; only after that resolved may it tell the platform that the message
 * arrived. It sends what `deliver` is given. It knows neither the gateway nor the store nor another channel.
 */
import type { InboxId, OutboxId, SessionId } from '../protocol/ids.ts';
import type { UserMessage } from '../protocol/messages.ts';

// --- what arrives --------------------------------------------------------------------------------------------------

export interface InboundMessage {
  readonly channel: string;
  /** The platform's id of the message; the same id is the same message. */
  readonly externalId: string;
  readonly sender: Sender;
  readonly place: Place;
  /** Where a front end lets its user choose the session with every message; otherwise the place says which one it is. */
  readonly into?: ChosenSession;
  readonly message: UserMessage;
  /** The bytes of what the message holds besides text. */
  readonly contents?: readonly { readonly sha256: string; readonly bytes: Uint8Array }[];
  /**
   * Whether it is surely meant for the agent: in a group, if it names it, answers it or is a command. By default it is.
   * What is not may count all the same, where the configuration says so; what is for another bot never comes here.
   */
  readonly isAddressed?: boolean;
}

export interface Sender {
  /** The platform's id: what permissions go by. */
  readonly id: string;
  /** For people; anybody may call themselves anything. */
  readonly name: string;
  /** A name that nobody else has at the same time, without an @; empty if they have none. Left out where there are no such names. */
  readonly handle?: string;
}

export interface Place {
  readonly kind: 'direct' | 'group' | 'thread';
  readonly chat: string;
  readonly thread?: string;
  /** Where replies go, in the channel's own words; by default the chat. */
  readonly target?: string;
}

/** One that is there, if the sender may see it; or the name that one gets which begins with this message. */
export type ChosenSession = { readonly existing: SessionId } | { readonly name: string };

/** Somebody pressed a button under one of our messages. */
export interface InboundPress {
  readonly channel: string;
  readonly externalId: string;
  readonly sender: Sender;
  readonly place: Place;
  readonly into?: ChosenSession;
  /** As the button had it. */
  readonly value: string;
}

export type Receipt =
  | { readonly kind: 'accepted'; readonly sessionId: SessionId; readonly inboxId: InboxId; readonly duplicate: boolean }
  /** It was a command, or it was not meant for the agent: whatever there is to say is said by a delivery. */
  | {
      readonly kind: 'handled';
      /** Where a sender who chooses sessions is now; null: in none. Left out if the command has moved nobody. */
      readonly session?: SessionId | null;
    }
  /** `text` may be shown to the sender. */
  | {
      readonly kind: 'refused';
      readonly reason: 'too-large' | 'queue-full' | 'not-allowed' | 'draining' | 'empty';
      readonly text: string;
    };

export interface ChannelPort {
  /** Resolves once the message is stored or refused. Idempotent by channel and external id. */
  receive(message: InboundMessage): Promise<Receipt>;
  press(press: InboundPress): Promise<PressAnswer>;
  /** Whether files of somebody there are worth fetching: asked before their bytes are had. */
  mayFetch(arrival: Pick<InboundMessage, 'channel' | 'sender' | 'place' | 'isAddressed'>): Promise<boolean>;
}

export interface PressAnswer {
  /** A short word for the one who pressed. */
  readonly text: string;
  /** What the buttons were about is settled, whoever did it: they can go. */
  readonly settled: boolean;
}

// --- what leaves ---------------------------------------------------------------------------------------------------

export interface Delivery {
  readonly id: OutboxId;
  /** Null for what belongs to no session: a reply to a stranger, `talaria send`. */
  readonly sessionId: SessionId | null;
  readonly target: string;
  /** The answer, or a part of it that is within the channel's limit. Markdown; goes out as well as the platform can. */
  readonly text: string;
  /** The same for every attempt at the same part, and for nothing else: what the platform may tell repetitions by. */
  readonly dedupeId: string;
  /** The draft that this takes the place of, by the platform's id; null if there is none. */
  readonly replaces: string | null;
  /** Under the text, if the channel has buttons. */
  readonly buttons: readonly Button[];
  /** What is sent, with the text as its caption, which may be empty. A channel that people read elsewhere leaves it out. */
  readonly file: DeliveryFile | null;
}

export interface DeliveryFile {
  readonly name: string;
  readonly mediaType: string;
  /** Read when they are wanted, the same every time. */
  readonly bytes: () => Promise<Uint8Array>;
}

export interface Button {
  readonly label: string;
  /** At most 64 bytes. */
  readonly value: string;
}

/** What a platform takes and promises. Constants of the channel: an answer is split by them the same way every time. */
export interface ChannelLimits {
  /** The longest message, in UTF-16 units; null if there is no limit. */
  readonly textCharsMax: number | null;
  /** The longest caption of a file; by default as for a message. What is longer follows the file. */
  readonly captionCharsMax?: number;
  /** Whether the platform drops a second message with the same `dedupeId`. */
  readonly dedupes: boolean;
}

export type DeliveryOutcome =
  | { readonly kind: 'sent'; readonly platformId: string | null }
  /**
   * `afterMs`: how long the platform wants to be left alone at least; 0 if it didn't say. `notSent`: it surely does not
   * have the message, because it said so or was not reached; otherwise it may.
   */
  | { readonly kind: 'retry'; readonly afterMs: number; readonly error: string; readonly notSent?: true }
  | { readonly kind: 'failed'; readonly error: string };

/** Work in progress, shown in place. All of it may fail or be left out at any moment and costs nothing but a look. */
export interface LiveDisplay {
  /** The least time between two changes of a draft. */
  readonly editEveryMs: number;
  /** How long a change there has to wait for its turn, where drafts share a limit. To ask is to take the turn. */
  turnInMs?(target: string): number;
  /** How long the platform shows that somebody is typing, once told; 0 if it can't. */
  readonly typingMs: number;
  typing(target: string, signal: AbortSignal): Promise<void>;
  /** Sends a draft, or changes the one with this id. Returns its id; null if the platform does not want it now. */
  draft(target: string, text: string, platformId: string | null, signal: AbortSignal): Promise<string | null>;
  /** Throws if it may still stand there and another try may help. */
  remove(target: string, platformId: string, signal: AbortSignal): Promise<void>;
}

/** A command, for the platform's menu. */
export interface MenuEntry {
  readonly name: string;
  readonly summary: string;
}

// --- the channel ---------------------------------------------------------------------------------------------------

export interface Channel {
  readonly name: string;
  readonly limits: ChannelLimits;
  /** Missing where nothing can be shown in place. */
  readonly live?: LiveDisplay;
  /** Begins to take messages. Throws if it can't, with a text for the operator. */
  start(port: ChannelPort, menu: readonly MenuEntry[]): Promise<void>;
  /** Takes no more messages; what is under way ends first. Idempotent. */
  stop(): Promise<void>;
  /** What is wrong with a target that somebody typed; null if nothing is, as far as can be seen from here. */
  targetProblem?(target: string): string | null;
  /** Never throws: every failure is an outcome. */
  deliver(delivery: Delivery, signal: AbortSignal): Promise<DeliveryOutcome>;
}
