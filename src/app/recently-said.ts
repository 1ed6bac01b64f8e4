/** What was said in a session of late, by those who may use the agent and by strangers whose texts were read there. */
import type { SessionId } from '../protocol/ids.ts';
import { textOf } from '../protocol/messages.ts';
import type { StoreReader } from '../store/store.ts';
import type { Saying } from '../tools/memory/origin-of-fact.ts';

const entriesMax = 500;

export async function recentlySaid(read: StoreReader, sessionId: SessionId): Promise<readonly Saying[]> {
  const session = await read.session(sessionId);
  if (session === null) return [];
  const after = Math.max(0, session.lastSeq - entriesMax);
  const entries = await read.entries(sessionId, { after, limit: entriesMax });
  return entries.flatMap((entry): Saying[] => {
    if (entry.kind !== 'message') return [];
    const { message } = entry;
    if (message.role === 'user') return [{ source: message.untrusted ?? null, text: textOf(message) }];
    if (message.role !== 'tool') return [];
    const [{ text, untrusted }] = message.parts;
    return untrusted === undefined ? [] : [{ source: untrusted, text }];
  });
}
