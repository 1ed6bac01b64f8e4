/** One thing at a time for each session, and for starts one at a time for all. */
import type { SessionId } from '../../protocol/ids.ts';

export interface SessionTurns {
  /** After everything that was asked for before, whatever came of it. */
  inTurn<T>(sessionId: SessionId, work: () => Promise<T>): Promise<T>;
  /** Whether something runs or waits for it. */
  isBusy(sessionId: SessionId): boolean;
  oneAtATime<T>(work: () => Promise<T>): Promise<T>;
}

export function createSessionTurns(): SessionTurns {
  const last = new Map<SessionId, Promise<unknown>>();
  let lastOfAll: Promise<unknown> = Promise.resolve();
  return {
    inTurn(sessionId, work) {
      const result = (last.get(sessionId) ?? Promise.resolve()).then(work);
      const done = result.then(
        () => undefined,
        () => undefined,
      );
      last.set(sessionId, done);
      void done.then(() => last.get(sessionId) === done && last.delete(sessionId));
      return result;
    },
    isBusy: (sessionId) => last.has(sessionId),
    oneAtATime(work) {
      const result = lastOfAll.then(work);
      lastOfAll = result.then(
        () => undefined,
        () => undefined,
      );
      return result;
    },
  };
}
