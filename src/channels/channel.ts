/**
 * The contract of a channel: how one platform says what the gateway understands. A channel turns what arrives into
 * an `InboundMessage` and hands it to `receive`; only after that resolved may it tell the platform that the message
 * arrived. It sends what `deliver` is given. It knows neither the gateway nor the store nor another channel.
 */
import type { InboxId, OutboxId, SessionId } from '../protocol/ids.ts';
import type { UserMessage } from '../protocol/messages.ts';

export interface InboundMessage {
  readonly channel: string;
  /** The platform's id of the message; the same id is the same message. */
  readonly externalId: string;
  readonly sender: { readonly id: string; readonly name: string };
  readonly place: Place;
  readonly message: UserMessage;
}

export interface Place {
  readonly kind: 'direct' | 'group' | 'thread';
  readonly chat: string;
  readonly thread?: string;
}

export type Receipt =
  | { readonly kind: 'accepted'; readonly sessionId: SessionId; readonly inboxId: InboxId; readonly duplicate: boolean }
  /** `text` may be shown to the sender. */
  | {
      readonly kind: 'refused';
      readonly reason: 'too-large' | 'queue-full' | 'not-allowed' | 'draining' | 'empty';
      readonly text: string;
    };

export interface Delivery {
  readonly id: OutboxId;
  readonly sessionId: SessionId;
  readonly target: string;
  /** The answer, or a part of it that is within the channel's limit. Goes out as it is. */
  readonly text: string;
  /** The same for every attempt at the same part, and for nothing else: what the platform may tell repetitions by. */
  readonly dedupeId: string;
}

/** What a platform takes and promises. Constants of the channel: an answer is split by them the same way every time. */
export interface ChannelLimits {
  /** The longest message, in UTF-16 units; null if there is no limit. */
  readonly textCharsMax: number | null;
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

export interface ChannelPort {
  /** Resolves once the message is stored or refused. Idempotent by channel and external id. */
  receive(message: InboundMessage): Promise<Receipt>;
}

export interface Channel {
  readonly name: string;
  readonly limits: ChannelLimits;
  /** Begins to take messages. Throws if it can't, with a text for the operator. */
  start(port: ChannelPort): Promise<void>;
  /** Takes no more messages; what is under way ends first. Idempotent. */
  stop(): Promise<void>;
  /** Never throws: every failure is an outcome. */
  deliver(delivery: Delivery, signal: AbortSignal): Promise<DeliveryOutcome>;
}
