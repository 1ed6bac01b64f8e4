/**
 * The end of what a session's tools hold, when the session itself is over: closed by /new, expired or deleted. All of it
 * goes by the session id, so that it outlives the agents of the session, which are only released (`agent-cache.ts`), and
 * nothing of another session is touched. What was said and printed stays where it is: only what lives is ended.
 */
import type { Log } from '../lib/log.ts';
import type { SessionId } from '../protocol/ids.ts';
import type { Holding } from '../tools/holding.ts';

export interface HardCloseDeps {
  /** Resolves once nothing runs for the session: what a turn holds is not taken from under it. */
  readonly whenIdle: (sessionId: SessionId) => Promise<void>;
  readonly dropAgent: (sessionId: SessionId) => void;
  readonly holdings: readonly Pick<Holding, 'name' | 'end'>[];
  readonly log: Log;
}

/**
 * May be called any number of times, also at once. A holding that can't be ended keeps no other one from being ended;
 * then it throws the first failure.
 */
export type HardClose = (sessionId: SessionId) => Promise<void>;

export function createHardClose({ whenIdle, dropAgent, holdings, log }: HardCloseDeps): HardClose {
  const underWay = new Map<SessionId, Promise<void>>();

  const close = async (sessionId: SessionId): Promise<void> => {
    await whenIdle(sessionId);
    dropAgent(sessionId);
    const ends = await Promise.allSettled(holdings.map(async ({ end }) => end(sessionId)));
    const failures = ends.flatMap((end, index) =>
      end.status === 'rejected' ? [{ holding: holdings[index]?.name, error: end.reason as unknown }] : [],
    );
    for (const failure of failures) log.error('a closed session still holds something', { sessionId, ...failure });
    if (failures[0] !== undefined) throw failures[0].error;
  };

  return (sessionId) => {
    const known = underWay.get(sessionId);
    if (known !== undefined) return known;
    const closing = close(sessionId).finally(() => underWay.delete(sessionId));
    underWay.set(sessionId, closing);
    return closing;
  };
}
