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
  readonly text: string;
  /** True if an earlier attempt may have reached the platform. */
  readonly maybeRepeated: boolean;
}

export type DeliveryOutcome =
  | { readonly kind: 'sent'; readonly platformId: string | null }
  | { readonly kind: 'retry'; readonly afterMs: number; readonly error: string }
  | { readonly kind: 'failed'; readonly error: string };

export interface ChannelPort {
  /** Resolves once the message is stored or refused. Idempotent by channel and external id. */
  receive(message: InboundMessage): Promise<Receipt>;
}

export interface Channel {
  readonly name: string;
  /** Begins to take messages. Throws if it can't, with a text for the operator. */
  start(port: ChannelPort): Promise<void>;
  /** Takes no more messages; what is under way ends first. Idempotent. */
  stop(): Promise<void>;
  /** Never throws: every failure is an outcome. */
  deliver(delivery: Delivery, signal: AbortSignal): Promise<DeliveryOutcome>;
}
