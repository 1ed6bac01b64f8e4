/**
 * Follows one session: asks how long its log is, reads the end of it and goes on with what happens, across lost
 * connections. Every entry is handed on exactly once and in order, whatever is repeated after a reconnect. Events come
 * in batches, at most one per drawn frame. Leaves to others what the events mean.
 */
import { ApiError, type SessionSummary } from '../../src/protocol/api.ts';
import type { SessionEvent } from '../../src/protocol/events.ts';
import type { Entry } from '../../src/protocol/messages.ts';
import { eventsUrl } from './api.ts';

/** How many entries are loaded when a session is opened, and by each "Show earlier". */
export const pageEntries = 200;
/** How far back opening at a search hit reaches. */
const jumpEntriesMax = 2_000;
const entriesBeforeJump = 20;
const firstRetryMs = 500;
const retryMaxMs = 10_000;
/** How long the browser's own reconnecting is waited for. */
const browserReconnectMs = 4_000;
const earlierTimeoutMs = 20_000;

export type StreamState =
  | { readonly kind: 'connecting' }
  | { readonly kind: 'open' }
  | { readonly kind: 'lost' }
  | { readonly kind: 'missing' }
  | { readonly kind: 'refused'; readonly error: ApiError };

/** The part of the browser's EventSource that is used. */
export interface EventSourceLike {
  readonly readyState: number;
  addEventListener(type: 'open' | 'error', listener: () => void): void;
  addEventListener(type: 'message', listener: (event: MessageEvent<string>) => void): void;
  close(): void;
}

export interface SessionStreamDeps {
  readonly session: (ref: string) => Promise<SessionSummary>;
  readonly openSource: (url: string) => EventSourceLike;
  /** Calls back once; the returned function cancels. */
  readonly setTimer: (delayMs: number, callback: () => void) => () => void;
  /** Calls back before the next frame is drawn. */
  readonly onNextFrame: (callback: () => void) => void;
  readonly random: () => number;
}

export interface SessionStreamHandlers {
  /** First, and again should another session take the same name: events from after `after` follow. */
  readonly onStart: (summary: SessionSummary, after: number) => void;
  readonly onEvents: (events: readonly SessionEvent[]) => void;
  readonly onState: (state: StreamState) => void;
}

export interface SessionStream {
  /** Lets the connection go until `resume`. */
  pause(): void;
  /** Connects at once if there is no connection. */
  resume(): void;
  close(): void;
}

const closedState = 2;

export function followSession(
  deps: SessionStreamDeps,
  handlers: SessionStreamHandlers,
  ref: string,
  showSeq: number | null,
): SessionStream {
  let source: EventSourceLike | null = null;
  let cancelTimer = () => {};
  let closed = false;
  let failures = 0;
  /** Counts the tries to connect; an answer to an older one is too late. */
  let attempt = 0;
  let followed: { id: string; cursor: number } | null = null;
  let batch: SessionEvent[] = [];

  const disconnect = () => {
    attempt += 1;
    cancelTimer();
    source?.close();
    source = null;
  };

  const connect = async () => {
    disconnect();
    const current = attempt;
    let summary: SessionSummary;
    try {
      summary = await deps.session(ref);
    } catch (error) {
      if (current !== attempt) return;
      if (!(error instanceof ApiError)) throw error;
      if (error.reason === 'not-found') handlers.onState({ kind: 'missing' });
      else if (error.reason === 'unreachable' || error.reason === 'draining') retryLater();
      else handlers.onState({ kind: 'refused', error });
      return;
    }
    if (current !== attempt) return;
    if (followed?.id !== summary.id) {
      followed = { id: summary.id, cursor: startOf(summary.lastSeq, showSeq) };
      batch = [];
      handlers.onStart(summary, followed.cursor);
    }
    listen(followed);
  };

  const listen = (following: { cursor: number }) => {
    const opened = deps.openSource(eventsUrl(ref, following.cursor));
    source = opened;
    opened.addEventListener('open', () => {
      if (source !== opened) return;
      cancelTimer();
      failures = 0;
      handlers.onState({ kind: 'open' });
    });
    opened.addEventListener('message', ({ data }) => {
      if (source !== opened) return;
      const event = JSON.parse(data) as SessionEvent;
      if (event.kind === 'entry') {
        if (event.entry.seq <= following.cursor) return;
        following.cursor = event.entry.seq;
      }
      if (batch.push(event) === 1) deps.onNextFrame(flush);
    });
    opened.addEventListener('error', () => {
      if (source !== opened) return;
      if (opened.readyState === closedState) {
        retryLater();
        return;
      }
      // The browser tries again by itself and sends the last id it saw; it is given a while.
      handlers.onState({ kind: 'lost' });
      cancelTimer();
      cancelTimer = deps.setTimer(browserReconnectMs, () => void connect());
    });
  };

  const flush = () => {
    const events = batch;
    batch = [];
    if (!closed && events.length > 0) handlers.onEvents(events);
  };

  const retryLater = () => {
    disconnect();
    handlers.onState({ kind: 'lost' });
    const delayMs = Math.min(retryMaxMs, firstRetryMs * 2 ** failures);
    failures += 1;
    cancelTimer = deps.setTimer(delayMs / 2 + (delayMs / 2) * deps.random(), () => void connect());
  };

  handlers.onState({ kind: 'connecting' });
  void connect();
  return {
    pause: disconnect,
    resume() {
      if (closed || source?.readyState === 1) return;
      failures = 0;
      void connect();
    },
    close() {
      closed = true;
      disconnect();
    },
  };
}

function startOf(lastSeq: number, showSeq: number | null): number {
  const after = Math.max(0, lastSeq - pageEntries);
  if (showSeq === null || lastSeq - showSeq > jumpEntriesMax) return after;
  return Math.max(0, Math.min(after, showSeq - entriesBeforeJump));
}

/** The entries after `after` and before `before`, oldest first. */
export function loadEntries(
  deps: Pick<SessionStreamDeps, 'openSource' | 'setTimer'>,
  ref: string,
  after: number,
  before: number,
): Promise<readonly Entry[]> {
  return new Promise((resolve, reject) => {
    const entries: Entry[] = [];
    const source = deps.openSource(eventsUrl(ref, after));
    const fail = () => {
      end();
      reject(new ApiError('unreachable', 'The earlier messages could not be loaded. Try again.'));
    };
    const cancelTimer = deps.setTimer(earlierTimeoutMs, fail);
    const end = () => {
      cancelTimer();
      source.close();
    };
    source.addEventListener('error', fail);
    source.addEventListener('message', ({ data }) => {
      const event = JSON.parse(data) as SessionEvent;
      const isWanted = event.kind === 'entry' && event.entry.seq < before;
      if (isWanted && event.entry.seq > (entries.at(-1)?.seq ?? after)) entries.push(event.entry);
      if (isWanted && event.entry.seq < before - 1) return;
      end();
      resolve(entries);
    });
  });
}
