/** The list of sessions, asked for again when something may have changed and from time to time while in sight. */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';

import { ApiError, type SessionSummary } from '../../src/protocol/api.ts';
import type { Api } from './api.ts';

const pageSessions = 50;
const refreshMs = 15_000;
const unreachableRefreshMs = 3_000;

export interface SessionsList {
  /** Null before the first answer. */
  readonly sessions: readonly SessionSummary[] | null;
  readonly hasMore: boolean;
  /** False while the gateway does not answer. */
  readonly isReachable: boolean;
  readonly loadMore: () => void;
  readonly refresh: () => void;
}

export function useSessions(api: Api, onError: (error: unknown) => void): SessionsList {
  const [sessions, setSessions] = useState<readonly SessionSummary[] | null>(null);
  const [limit, setLimit] = useState(pageSessions);
  const [isReachable, setReachable] = useState(true);
  const newestRequest = useRef(0);

  const refresh = useCallback(() => {
    const request = ++newestRequest.current;
    api.sessions({ limit }).then(
      (list) => {
        setReachable(true);
        // An older answer must not undo a newer one.
        if (request === newestRequest.current) setSessions(list);
      },
      (error: unknown) => {
        const isAway = error instanceof ApiError && error.reason === 'unreachable';
        setReachable(!isAway);
        // Nobody asked for this just now: that the gateway is away is said by `isReachable` alone.
        if (!isAway) onError(error);
      },
    );
  }, [api, limit, onError]);

  useEffect(() => {
    const refreshIfSeen = () => {
      if (!document.hidden) refresh();
    };
    refresh();
    const timer = setInterval(refreshIfSeen, isReachable ? refreshMs : unreachableRefreshMs);
    document.addEventListener('visibilitychange', refreshIfSeen);
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', refreshIfSeen);
    };
  }, [refresh, isReachable]);

  const loadMore = useCallback(() => setLimit((before) => before + pageSessions), []);
  return { sessions, hasMore: sessions !== null && sessions.length >= limit, isReachable, loadMore, refresh };
}
