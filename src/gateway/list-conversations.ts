/**
 * The sessions that somebody may go on with, newest first. What a stateless request left behind is none of them: it is
 * deleted after a while, and there may be thousands. They are found by their name all the same.
 */
import type { SessionRecord, StoreReader } from '../store/store.ts';
import { isStateless } from './stateless-sessions.ts';

const sessionsPerRead = 500;

export async function listConversations(
  read: Pick<StoreReader, 'sessions'>,
  { limit, ...page }: Parameters<StoreReader['sessions']>[0],
): Promise<SessionRecord[]> {
  const found: SessionRecord[] = [];
  let from = page;
  for (let size = limit; found.length < limit; size = sessionsPerRead) {
    const sessions = await read.sessions({ ...from, limit: size });
    found.push(...sessions.filter(({ key }) => !isStateless(key)));
    const last = sessions.at(-1);
    if (sessions.length < size || last === undefined) break;
    from = { ...page, before: last.updatedAt };
  }
  return found.slice(0, limit);
}
