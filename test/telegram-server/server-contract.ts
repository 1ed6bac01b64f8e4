/** What tests and other processes can ask of the scripted platform. */
import type { BotCommand } from 'grammy/types';
import type { CallRecord } from './call-log.ts';
import type { FaultOrder } from './faults.ts';
import type { People } from './people.ts';
import type { UpdateQueue } from './update-queue.ts';
import type { WebhookSender } from './webhook-sender.ts';
import type { World } from './world.ts';

export interface TelegramServerOptions {
  readonly port?: number;
  readonly token?: string;
  readonly username?: string;
  /** Between two tries to post an update to a webhook that does not take it. */
  readonly webhookAgainMs?: number;
}

export interface TelegramServer {
  /** What `api_root` is set to. */
  readonly url: string;
  readonly port: number;
  readonly token: string;
  readonly world: World;
  readonly people: People;
  readonly updates: UpdateQueue;
  readonly webhook: WebhookSender;
  readonly commands: readonly BotCommand[];
  /** What was called, oldest first; of one method, if it is named. */
  calls(method?: string): readonly CallRecord[];
  /** What is returned takes the order back. */
  inject(order: FaultOrder): () => void;
  /** Forgets faults that wait and the calls so far; chats and updates stay. */
  reset(): void;
  onCall(listener: (call: CallRecord) => void): () => void;
  /** Resolves when it holds; asked again after every call. Rejects if it takes too long. */
  until(holds: () => boolean, what: string): Promise<void>;
  /** Resolves once all connections are closed. */
  close(): Promise<void>;
}
