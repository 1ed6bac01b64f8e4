/**
 * How often a chat may be changed: drafts leave room between each other, and a chat that the platform wants to be left
 * alone gets no more of them until that is over. Answers do not wait for it: they are told by the platform itself.
 */
import type { Clock } from '../../lib/clock.ts';

const chatsRemembered = 5_000;

export interface ChatPace {
  /** Whether a draft may go out now; if so, it counts. */
  mayDraft(chat: string, everyMs: number): boolean;
  isQuiet(chat: string): boolean;
  quiet(chat: string, forMs: number): void;
}

export function createChatPace(clock: Clock): ChatPace {
  const chats = new Map<string, { draftedAt: number; quietUntil: number }>();
  const update = (chat: string, change: { draftedAt?: number; quietUntil?: number }) => {
    const before = chats.get(chat) ?? { draftedAt: Number.NEGATIVE_INFINITY, quietUntil: 0 };
    chats.delete(chat);
    chats.set(chat, { ...before, ...change });
    if (chats.size > chatsRemembered) chats.delete(chats.keys().next().value ?? '');
  };
  const isQuiet = (chat: string) => (chats.get(chat)?.quietUntil ?? 0) > clock.now();
  return {
    isQuiet,
    mayDraft(chat, everyMs) {
      const now = clock.now();
      const draftedAt = chats.get(chat)?.draftedAt;
      if (isQuiet(chat) || (draftedAt !== undefined && now - draftedAt < everyMs)) return false;
      update(chat, { draftedAt: now });
      return true;
    },
    quiet: (chat, forMs) => update(chat, { quietUntil: clock.now() + forMs }),
  };
}
