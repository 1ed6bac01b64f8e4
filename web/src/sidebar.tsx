/** The sessions, newest first, and the search over all of them. */
import { useState } from 'preact/hooks';

import type { SessionSummary, StatusReport } from '../../src/protocol/api.ts';
import type { Api } from './api.ts';
import { Icon } from './icon.tsx';
import { fullTime, relativeTime } from './relative-time.ts';
import { hashOf } from './route.ts';
import { SearchResults } from './search-results.tsx';
import type { SessionsList } from './use-sessions.ts';

export const searchBoxId = 'search';

export interface SidebarProps {
  readonly api: Api;
  readonly list: SessionsList;
  readonly current: string | null;
  readonly isCurrentRunning: boolean;
  readonly status: StatusReport | null;
  readonly onNewChat: () => void;
  readonly onOpened: () => void;
  readonly onError: (error: unknown) => void;
}

export function Sidebar(props: SidebarProps) {
  const [query, setQuery] = useState('');
  const { list } = props;
  return (
    <>
      <div class="sidebar-head">
        <a class="brand" href="#/" onClick={props.onOpened}>
          <img src="/assets/icon.svg" alt="" width="24" height="24" />
          Talaria
        </a>
        <button type="button" class="quiet drawer-only" aria-label="Close the list" onClick={props.onOpened}>
          <Icon name="close" />
        </button>
      </div>
      <button type="button" class="new-chat" title="Ctrl+K or ⌘K" onClick={props.onNewChat}>
        <Icon name="plus" /> New chat
      </button>
      <input
        id={searchBoxId}
        class="search"
        type="search"
        placeholder="Search  /"
        aria-label="Search all sessions"
        autoComplete="off"
        value={query}
        onInput={(event) => setQuery(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Escape') return;
          event.stopPropagation();
          setQuery('');
          event.currentTarget.blur();
        }}
      />
      <nav class="sessions" aria-label="Sessions">
        {query.trim() === '' ? (
          <SessionList {...props} />
        ) : (
          <SearchResults
            api={props.api}
            query={query.trim()}
            sessions={list.sessions ?? []}
            onOpened={props.onOpened}
            onError={props.onError}
          />
        )}
      </nav>
      {props.status !== null && <StatusLine status={props.status} />}
    </>
  );
}

function SessionList({ list, current, isCurrentRunning, onOpened }: SidebarProps) {
  if (list.sessions === null) return null;
  if (list.sessions.length === 0) return <p class="list-note">No sessions yet.</p>;
  return (
    <>
      <ul>
        {list.sessions.map((session) => (
          <SessionLink
            key={session.id}
            session={session}
            isCurrent={session.name === current}
            isRunning={session.name === current ? isCurrentRunning : session.state === 'running'}
            onOpened={onOpened}
          />
        ))}
      </ul>
      {list.hasMore && (
        <button type="button" class="text more" onClick={list.loadMore}>
          Show more
        </button>
      )}
    </>
  );
}

interface SessionLinkProps {
  readonly session: SessionSummary;
  readonly isCurrent: boolean;
  readonly isRunning: boolean;
  readonly onOpened: () => void;
}

function SessionLink({ session, isCurrent, isRunning, onOpened }: SessionLinkProps) {
  return (
    <li>
      <a
        class="session"
        href={hashOf({ session: session.name, seq: null })}
        aria-current={isCurrent ? 'page' : undefined}
        title={`${session.name} · ${fullTime(session.updatedAt)}`}
        onClick={onOpened}
      >
        {isRunning && <span class="running-dot" role="img" aria-label="Running" />}
        {session.state === 'parked' && <span class="parked-dot" role="img" aria-label="Parked" />}
        <span class="session-title">{titleOf(session)}</span>
        <time dateTime={new Date(session.updatedAt).toISOString()}>{relativeTime(session.updatedAt, Date.now())}</time>
      </a>
    </li>
  );
}

export function titleOf(session: SessionSummary): string {
  return session.title === '' ? session.name : session.title;
}

function StatusLine({ status }: { status: StatusReport }) {
  const [problem] = status.config.problems;
  return (
    <footer class="status-line">
      {problem !== undefined && (
        <p class="config-problem" title={status.config.problems.join('\n')}>
          <Icon name="alert" /> The configuration has a mistake; the last good one goes on.
        </p>
      )}
      <p title={`Talaria ${status.version}`}>
        {status.model.name} <span class="faint">· {status.version}</span>
      </p>
    </footer>
  );
}
