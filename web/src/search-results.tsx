/** What the search finds: sessions by their title at once, messages as soon as the gateway answers. */
import { useEffect, useState } from 'preact/hooks';

import type { SearchHit, SessionSummary } from '../../src/protocol/api.ts';
import type { Api } from './api.ts';
import { relativeTime } from './relative-time.ts';
import { hashOf } from './route.ts';

const hitsMax = 30;
const titlesMax = 5;
const typingPauseMs = 200;

export interface SearchResultsProps {
  readonly api: Api;
  readonly query: string;
  readonly sessions: readonly SessionSummary[];
  readonly onOpened: () => void;
  readonly onError: (error: unknown) => void;
}

export function SearchResults({ api, query, sessions, onOpened, onError }: SearchResultsProps) {
  const hits = useHits(api, query, onError);
  const wanted = query.toLowerCase();
  const named = sessions
    .filter(({ title, name }) => title.toLowerCase().includes(wanted) || name.toLowerCase().includes(wanted))
    .slice(0, titlesMax);
  return (
    <>
      <ul>
        {named.map((session) => (
          <li key={session.id}>
            <a class="session" href={hashOf({ session: session.name, seq: null })} onClick={onOpened}>
              <span class="session-title">{session.title === '' ? session.name : session.title}</span>
              <time>{relativeTime(session.updatedAt, Date.now())}</time>
            </a>
          </li>
        ))}
      </ul>
      <ul>
        {hits?.map((hit) => (
          <li key={`${hit.sessionId} ${hit.seq}`}>
            <a class="hit" href={hashOf({ session: hit.sessionName, seq: hit.seq })} onClick={onOpened}>
              <span class="hit-head">
                <span class="session-title">{titleOfHit(hit, sessions)}</span>
                <time>{relativeTime(hit.at, Date.now())}</time>
              </span>
              <span class="snippet">
                <Snippet text={hit.snippet} />
              </span>
            </a>
          </li>
        ))}
      </ul>
      <p class="list-note" role="status">
        {hits === null ? 'Searching…' : hits.length === 0 && named.length === 0 ? 'Nothing found.' : ''}
      </p>
    </>
  );
}

/** Null while the answer is on its way. */
function useHits(api: Api, query: string, onError: (error: unknown) => void): readonly SearchHit[] | null {
  const [found, setFound] = useState<{ query: string; hits: readonly SearchHit[] } | null>(null);
  useEffect(() => {
    const abort = new AbortController();
    const timer = setTimeout(() => {
      api.search(query, hitsMax, abort.signal).then(
        (hits) => setFound({ query, hits }),
        (error: unknown) => {
          if (abort.signal.aborted) return;
          setFound({ query, hits: [] });
          onError(error);
        },
      );
    }, typingPauseMs);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [api, query, onError]);
  return found?.query === query ? found.hits : null;
}

function titleOfHit(hit: SearchHit, sessions: readonly SessionSummary[]): string {
  const title = sessions.find((session) => session.id === hit.sessionId)?.title ?? '';
  return title === '' ? hit.sessionName : title;
}

function Snippet({ text }: { text: string }) {
  return (
    <>{text.split(/‹([^›]*)›/).map((piece, index) => (index % 2 === 1 ? <mark key={index}>{piece}</mark> : piece))}</>
  );
}
