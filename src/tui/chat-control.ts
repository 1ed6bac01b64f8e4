/** What a command may do with the chat. */
import type { Clock } from '../lib/clock.ts';
import type { Conversation } from './conversation.ts';
import type { Style } from './style.ts';

export interface ChatControl {
  readonly conversation: Conversation;
  readonly clock: Clock;
  readonly style: Style;
  say(text: string): void;
  /** Asks at the prompt; anything but a clear yes is a no. */
  confirm(question: string): Promise<boolean>;
  leave(): void;
}
