/**
 * The sessions that somebody may go on with, newest first. What a stateless request left behind is none of them: it is
 * deleted after a while, and there may be thousands. They are found by their name all the same. One that waits for a
 * person is in the list, because nobody would know its name.
 */
import type { SessionRecord, StoreReader } from '../store/store.ts';
import { isStateless } from './stateless-sessions.ts';

const sessionsPerRead = 500;

export async function listConversations(
  read: Pick<StoreReader, 'sessions' | 'journal'>,
  { limit, ...page }: Parameters<StoreReader['sessions']>[0],
): Promise<SessionRecord[]> {
  const found: SessionRecord[] = [];
  let from = page;
  for (let size = limit; found.length < limit; size = sessionsPerRead) {
    const sessions = await read.sessions({ ...from, limit: size });
    for (const session of sessions) {
      if (!isStateless(session.key) || (await waitsForPerson(read, session))) found.push(session);
    }
    const last = sessions.at(-1);
    if (sessions.length < size || last === undefined) break;
    from = { ...page, before: last.updatedAt };
  }
  return found.slice(0, limit);
}

async function waitsForPerson(read: Pick<StoreReader, 'journal'>, { id, turn }: SessionRecord): Promise<boolean> {
  if (turn !== 'open') return turn === 'parked';
  const journal = await read.journal(id, Number.MAX_SAFE_INTEGER);
  return journal?.unsettledCalls.some(({ question, answer }) => question !== null && answer === null) ?? false;
}
