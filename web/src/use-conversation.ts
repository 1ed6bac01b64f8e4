/**
 * The session that the address names, followed: its summary, what is shown of it and how the connection is. Lets go
 * of the connection while the page has been out of sight for a while, because browsers allow only a few per server.
 */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';

import type { ApiError, SessionSummary } from '../../src/protocol/api.ts';
import type { Api } from './api.ts';
import { emptyConversation, prependEntries, receive, type Conversation } from './conversation.ts';
import type { Route } from './route.ts';
import {
  followSession,
  loadEntries,
  pageEntries,
  type SessionStream,
  type SessionStreamDeps,
  type StreamState,
} from './session-stream.ts';

const hiddenBeforePauseMs = 60_000;
const hiddenFlushMs = 250;

export interface FollowedSession {
  /** Null while it is being asked for, and if there is none. */
  readonly summary: SessionSummary | null;
  readonly conversation: Conversation;
  readonly connection: StreamState;
  readonly isLoadingEarlier: boolean;
  readonly loadEarlier: () => void;
  /** Connects again at once, for instance after a message created the session. */
  readonly reconnect: () => void;
}

interface Followed {
  readonly ref: string | null;
  readonly summary: SessionSummary | null;
  readonly conversation: Conversation;
  readonly connection: StreamState;
  readonly isLoadingEarlier: boolean;
}

function nothingOf(ref: string | null): Followed {
  return {
    ref,
    summary: null,
    conversation: emptyConversation(0),
    connection: { kind: 'connecting' },
    isLoadingEarlier: false,
  };
}

export function useConversation(api: Api, route: Route, onError: (error: unknown) => void): FollowedSession {
  const ref = route.session;
  const [state, setState] = useState(() => nothingOf(ref));
  const stream = useRef<SessionStream | null>(null);

  useEffect(() => {
    setState(nothingOf(ref));
    if (ref === null) return undefined;
    const update = (changes: Partial<Followed>) =>
      setState((before) => (before.ref === ref ? { ...before, ...changes } : before));
    const followed = followSession(
      streamDeps(api),
      {
        onStart: (summary, after) => update({ summary, conversation: emptyConversation(after) }),
        onEvents: (events) =>
          setState((before) => {
            if (before.ref !== ref) return before;
            let { conversation } = before;
            for (const event of events) conversation = receive(conversation, event, Date.now());
            return { ...before, conversation };
          }),
        onState(connection) {
          update({ connection });
          if (connection.kind === 'refused') onError(connection.error);
        },
      },
      ref,
      route.seq,
    );
    stream.current = followed;
    const stopWatching = pauseWhileHidden(followed);
    return () => {
      stopWatching();
      stream.current = null;
      followed.close();
    };
  }, [api, ref, route.seq, onError]);

  const shown = state.ref === ref ? state : nothingOf(ref);
  const { firstSeq } = shown.conversation;
  const loadEarlier = useCallback(() => {
    if (ref === null) return;
    setState((before) => ({ ...before, isLoadingEarlier: true }));
    loadEntries(streamDeps(api), ref, Math.max(0, firstSeq - 1 - pageEntries), firstSeq).then(
      (entries) =>
        setState((before) =>
          before.ref === ref
            ? { ...before, isLoadingEarlier: false, conversation: prependEntries(before.conversation, entries) }
            : before,
        ),
      (error: ApiError) => {
        setState((before) => ({ ...before, isLoadingEarlier: false }));
        onError(error);
      },
    );
  }, [api, ref, firstSeq, onError]);
  const reconnect = useCallback(() => stream.current?.resume(), []);
  return { ...shown, loadEarlier, reconnect };
}

function streamDeps(api: Api): SessionStreamDeps {
  return {
    session: (ref) => api.session(ref),
    openSource: (url) => new EventSource(url),
    setTimer(delayMs, callback) {
      const timer = setTimeout(callback, delayMs);
      return () => clearTimeout(timer);
    },
    // A page out of sight draws no frames.
    onNextFrame: (callback) =>
      document.hidden ? void setTimeout(callback, hiddenFlushMs) : void requestAnimationFrame(callback),
    random: Math.random,
  };
}

function pauseWhileHidden(stream: SessionStream): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const onVisibility = () => {
    clearTimeout(timer);
    if (document.hidden) timer = setTimeout(() => stream.pause(), hiddenBeforePauseMs);
    else stream.resume();
  };
  const onOnline = () => stream.resume();
  document.addEventListener('visibilitychange', onVisibility);
  addEventListener('online', onOnline);
  return () => {
    clearTimeout(timer);
    document.removeEventListener('visibilitychange', onVisibility);
    removeEventListener('online', onOnline);
  };
}
