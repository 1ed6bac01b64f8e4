/** Where a reply goes on Telegram: `CHAT`, or `CHAT/THREAD` for a topic. Pure. */
export interface TelegramTarget {
  /** A number, or the @name of a public chat. */
  readonly chat: string;
  readonly thread: number | null;
}

export function parseTarget(target: string): TelegramTarget | null {
  const [, chat, thread] = /^(-?\d{1,20}|@\w{3,32})(?:\/(\d{1,15}))?$/.exec(target) ?? [];
  return chat === undefined ? null : { chat, thread: thread === undefined ? null : Number(thread) };
}

export function spellTarget(chat: string, thread: number | null): string {
  return thread === null ? chat : `${chat}/${thread}`;
}

/** As the API's methods take it. */
export function addressOf({ chat, thread }: TelegramTarget): { chat_id: string; message_thread_id?: number } {
  return { chat_id: chat, ...(thread === null ? {} : { message_thread_id: thread }) };
}

/** Ids of groups and channels are negative. */
export function isGroup({ chat }: TelegramTarget): boolean {
  return chat.startsWith('-') || chat.startsWith('@');
}
