/**
 * How often a chat may be changed: all drafts in it share one limit and take turns, and a chat that the platform wants to
 * be left alone gets no more of them until that is over. Answers do not wait for it: they are told by the platform itself.
 */
import type { Clock } from '../../lib/clock.ts';

const chatsRemembered = 5_000;

export interface ChatPace {
  /** How long the next draft has to wait for its turn; the one after it comes this much later. */
  turnInMs(chat: string, everyMs: number): number;
  isQuiet(chat: string): boolean;
  quiet(chat: string, forMs: number): void;
}

export function createChatPace(clock: Clock): ChatPace {
  const chats = new Map<string, { readonly nextTurnAt: number; readonly quietUntil: number }>();
  const of = (chat: string) => chats.get(chat) ?? { nextTurnAt: 0, quietUntil: 0 };
  const update = (chat: string, change: { nextTurnAt?: number; quietUntil?: number }) => {
    const changed = { ...of(chat), ...change };
    chats.delete(chat);
    chats.set(chat, changed);
    if (chats.size > chatsRemembered) chats.delete(chats.keys().next().value ?? '');
  };
  return {
    turnInMs(chat, everyMs) {
      const now = clock.now();
      const { nextTurnAt, quietUntil } = of(chat);
      const turnAt = Math.max(now, nextTurnAt, quietUntil);
      update(chat, { nextTurnAt: turnAt + everyMs });
      return turnAt - now;
    },
    isQuiet: (chat) => of(chat).quietUntil > clock.now(),
    quiet: (chat, forMs) => update(chat, { quietUntil: clock.now() + forMs }),
  };
}
