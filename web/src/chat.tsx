/** The sessions, the conversation and the composer, and what they tell each other. */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';

import { ApiError, type ParkedAction } from '../../src/protocol/api.ts';
import { Announcer } from './announcer.tsx';
import type { Api } from './api.ts';
import { Banner } from './banner.tsx';
import { ChatBody } from './chat-body.tsx';
import { ChatHeader } from './chat-header.tsx';
import { Composer } from './composer.tsx';
import { DeleteDialog } from './delete-dialog.tsx';
import type { PressButton } from './notice.tsx';
import type { GiveAnswer } from './question-card.tsx';
import { newChat } from './route.ts';
import { searchBoxId, Sidebar, titleOf } from './sidebar.tsx';
import { useConversation } from './use-conversation.ts';
import { useDrawer } from './use-drawer.ts';
import { randomId, type Outgoing } from './use-outbox.ts';
import { usePageTitle } from './use-page-title.ts';
import { usePending } from './use-pending.ts';
import { useRoute } from './use-route.ts';
import { useSessions } from './use-sessions.ts';
import { useShortcuts } from './use-shortcuts.ts';
import { useStatus } from './use-status.ts';

export interface ChatProps {
  readonly api: Api;
  readonly outgoing: Outgoing;
  readonly onUnauthorized: () => void;
}

export function Chat({ api, outgoing, onUnauthorized }: ChatProps) {
  const [route, navigate] = useRoute();
  const [problem, setProblem] = useState<string | null>(null);
  /** What a command said where there is no session whose log could hold it. */
  const [said, setSaid] = useState<string | null>(null);
  const drawer = useDrawer();
  const [isDeleting, setDeleting] = useState(false);
  const unsentTexts = useRef(new Map<string | null, string>());
  const onError = useCallback((error: unknown) => {
    if (!(error instanceof ApiError)) throw error;
    if (error.reason === 'unauthorized') onUnauthorized();
    else setProblem(error.message);
  }, []);

  const list = useSessions(api, onError);
  const followed = useConversation(api, route, onError);
  const { summary, conversation, connection } = followed;
  const isLost = connection.kind === 'lost' || !list.isReachable;
  const status = useStatus(api, !isLost, onError);
  const pending = usePending(outgoing, route.session, conversation.items);
  const moveTo = (session: string | null) => {
    if (session !== route.session) navigate({ session, seq: null });
  };
  outgoing.listener.current = (message, receipt) => {
    list.refresh();
    if (receipt.kind === 'command') {
      setSaid(receipt.text);
      if (message.session === route.session) moveTo(receipt.session);
    } else if (message.session === null && route.session === null)
      navigate({ session: receipt.sessionName, seq: null });
    else if (connection.kind === 'missing') followed.reconnect();
  };

  const isRunning = conversation.turn !== null;
  const inList = list.sessions?.find(({ name }) => name === route.session) ?? null;
  const listed = inList ?? summary;
  const title = listed === null ? (route.session ?? 'New chat') : titleOf(listed);
  const isMissed = connection.kind === 'missing' && inList !== null;
  useEffect(() => {
    // Somebody else has begun it: another tab, or another program.
    if (isMissed) followed.reconnect();
  }, [isMissed]);
  useEffect(() => list.refresh(), [isRunning, conversation.caughtUp]);
  useEffect(() => {
    // An id in the address works too; the name is what everything else goes by.
    if (summary !== null && route.session !== summary.name) navigate({ ...route, session: summary.name }, 'replace');
  }, [summary]);
  usePageTitle(route.session === null ? null : title, isRunning);

  const send = (text: string) => {
    setSaid(null);
    outgoing.outbox?.send(route.session, text, conversation.lastSeq);
  };
  const stop = () => {
    if (route.session !== null && isRunning) api.stop(route.session).catch(onError);
  };
  const settleParked = async (action: ParkedAction) => {
    if (route.session === null) return;
    await api.parked(route.session, action).catch(onError);
    list.refresh();
  };
  const answer = useCallback<GiveAnswer>(
    (callId, text) => (route.session === null ? Promise.resolve(false) : api.answer(route.session, callId, text)),
    [api, route.session],
  );
  const press = useCallback<PressButton>(
    async (value) => {
      if (route.session === null) return;
      try {
        moveTo((await api.press(route.session, value, randomId())).session);
      } catch (error) {
        onError(error);
      }
      list.refresh();
    },
    [api, route.session],
  );
  const startChat = () => {
    drawer.close();
    navigate(newChat);
    document.querySelector<HTMLTextAreaElement>('.composer textarea')?.focus();
  };
  const deleteSession = async () => {
    if (route.session === null) return;
    await api.delete(route.session);
    navigate(newChat, 'replace');
    list.refresh();
  };
  useShortcuts({
    onSearch() {
      const focus = () => document.getElementById(searchBoxId)?.focus();
      drawer.open();
      focus();
      // A drawer has to be drawn open before anything in it can have the focus.
      requestAnimationFrame(focus);
    },
    onNewChat: startChat,
    onEscape: drawer.isOpen ? drawer.close : stop,
  });

  return (
    <div class={drawer.isOpen ? 'app list-open' : 'app'}>
      <aside id="sidebar" class="sidebar">
        <Sidebar
          api={api}
          list={list}
          current={route.session}
          isCurrentRunning={isRunning}
          status={status}
          onNewChat={startChat}
          onOpened={drawer.close}
          onError={onError}
        />
      </aside>
      <div class="backdrop" onClick={drawer.close} />
      <main class="chat" inert={drawer.isOpen}>
        <ChatHeader
          title={title}
          status={status}
          chosenModel={listed?.settings.model ?? null}
          canDelete={summary !== null && connection.kind !== 'missing'}
          isListOpen={drawer.isOpen}
          onOpenList={drawer.open}
          onDelete={() => setDeleting(true)}
        />
        {isLost && <Banner kind="lost" text="Connection lost. Trying again…" />}
        {problem !== null && <Banner kind="problem" text={problem} onClose={() => setProblem(null)} />}
        {said !== null && <Banner kind="said" text={said} onClose={() => setSaid(null)} />}
        <ChatBody
          route={route}
          followed={followed}
          pending={pending}
          outbox={outgoing.outbox}
          status={status}
          onSend={send}
          onParked={listed?.state === 'parked' && !isRunning ? settleParked : null}
          onAnswer={answer}
          onPress={press}
        />
        <Announcer key={route.session} conversation={conversation} />
        <Composer
          key={route.session ?? ''}
          initialText={unsentTexts.current.get(route.session) ?? ''}
          onTextChange={(text) => unsentTexts.current.set(route.session, text)}
          isRunning={isRunning}
          isHeld={route.session === null && pending.some(({ state }) => state.kind === 'sending')}
          onSend={send}
          onStop={stop}
        />
      </main>
      {isDeleting && (
        <DeleteDialog
          title={title}
          onDelete={() => void deleteSession().catch(onError)}
          onClose={() => setDeleting(false)}
        />
      )}
    </div>
  );
}
