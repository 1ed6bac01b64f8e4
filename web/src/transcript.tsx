/**
 * The conversation itself. Follows the end while the reader is there and leaves the reader alone otherwise. What is
 * written at this moment is drawn apart from what is stored, so that a long conversation doesn't slow it down.
 */
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';

import type { ParkedAction } from '../../src/protocol/api.ts';
import type { CallId } from '../../src/protocol/ids.ts';
import { draftOf, unplacedCalls, type Conversation, type RunningCall } from './conversation.ts';
import { Icon } from './icon.tsx';
import { hasOpenCalls, openQuestion, type Item } from './items.ts';
import { Markdown } from './markdown.tsx';
import { memo } from './memo.ts';
import { ItemView } from './message-items.tsx';
import type { PendingMessage } from './outbox.ts';
import { ParkedChoice } from './parked-choice.tsx';
import { PendingView } from './pending-view.tsx';
import type { PressButton } from './notice.tsx';
import type { GiveAnswer } from './question-card.tsx';
import { Reasoning } from './reasoning.tsx';
import { ToolCall } from './tool-call.tsx';

/** This near to the end counts as being there. */
const endDistancePx = 60;

export interface TranscriptProps {
  readonly conversation: Conversation;
  readonly pending: readonly PendingMessage[];
  readonly soughtSeq: number | null;
  readonly isLoadingEarlier: boolean;
  readonly onLoadEarlier: () => void;
  readonly onRetry: (externalId: string) => void;
  readonly onDiscard: (externalId: string) => void;
  readonly onParked: ((action: ParkedAction) => Promise<void>) | null;
  readonly onAnswer: GiveAnswer;
  readonly onPress: PressButton;
}

export function Transcript(props: TranscriptProps) {
  const { conversation, pending, soughtSeq } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const { isAtEnd, toEnd, leaveEnd } = useStickyEnd(scroller, conversation, pending);
  useKeptPlace(scroller, conversation.firstSeq);
  useSoughtInView(scroller, soughtSeq, conversation.caughtUp, leaveEnd);
  const draft = draftOf(conversation);
  const { turn, running } = conversation;
  const isQuiet = turn !== null && draft === null && running.size === 0;
  const waitsFor = turn === null ? '' : turn.status || (isQuiet ? quietWords(conversation) : '');
  return (
    <div class="transcript-frame">
      <div class="transcript" ref={scroller} tabIndex={0} role="log" aria-live="off" aria-label="Conversation">
        <div class="column">
          {conversation.firstSeq > 1 && (
            <button type="button" class="earlier" disabled={props.isLoadingEarlier} onClick={props.onLoadEarlier}>
              {props.isLoadingEarlier ? 'Loading…' : 'Show earlier'}
            </button>
          )}
          <Items
            items={conversation.items}
            running={running}
            soughtSeq={soughtSeq}
            onAnswer={props.onAnswer}
            onPress={props.onPress}
          />
          {props.onParked !== null && <ParkedChoice onChoose={props.onParked} />}
          {unplacedCalls(conversation).map((call) => (
            <ToolCall key={call.callId} name={call.name} argumentText={call.arguments} result={null} running={call} />
          ))}
          {draft !== null && (
            <div class="item answer draft">
              {draft.reasoning !== '' && <Reasoning text={draft.reasoning} isWriting={draft.text === ''} />}
              <Markdown text={draft.text} />
            </div>
          )}
          {waitsFor !== '' && (
            <p class="working">
              <span class="shimmer">{waitsFor}</span>
            </p>
          )}
          {conversation.trouble !== null && (
            <p class="aside failed" role="alert">
              {conversation.trouble}
            </p>
          )}
          {pending.map((message) => (
            <PendingView
              key={message.externalId}
              message={message}
              isTurnRunning={turn !== null}
              onRetry={props.onRetry}
              onDiscard={props.onDiscard}
            />
          ))}
        </div>
      </div>
      {!isAtEnd && (
        <button type="button" class="to-end" aria-label="To the newest message" onClick={toEnd}>
          <Icon name="down" />
        </button>
      )}
    </div>
  );
}

function quietWords({ items }: Conversation): string {
  return openQuestion(items) === null ? 'Working…' : 'Waiting for your answer…';
}

interface ItemsProps {
  readonly items: readonly Item[];
  readonly running: ReadonlyMap<CallId, RunningCall>;
  readonly soughtSeq: number | null;
  readonly onAnswer: GiveAnswer;
  readonly onPress: PressButton;
}

const noneRunning: ReadonlyMap<CallId, RunningCall> = new Map();

const Items = memo(({ items, running, soughtSeq, onAnswer, onPress }: ItemsProps) => (
  <>
    {items.map((item) => (
      <ItemView
        key={item.seq}
        item={item}
        running={item.kind === 'answer' && hasOpenCalls(item) ? running : noneRunning}
        isSought={item.seq === soughtSeq}
        onAnswer={onAnswer}
        onPress={onPress}
      />
    ))}
  </>
));

type Scroller = { readonly current: HTMLDivElement | null };

function useStickyEnd(scroller: Scroller, conversation: Conversation, pending: readonly PendingMessage[]) {
  const [isAtEnd, setAtEnd] = useState(true);
  const sticks = useRef(true);
  const toEnd = useCallback(() => {
    const element = scroller.current;
    if (element !== null) element.scrollTop = element.scrollHeight;
  }, []);

  useEffect(() => {
    const element = scroller.current;
    if (element === null) return undefined;
    let lastTop = 0;
    const look = (event: Event) => {
      const isNear = element.scrollHeight - element.scrollTop - element.clientHeight < endDistancePx;
      // Only going up leaves the end; when the page grows, the end is what moved.
      if (isNear || event.type === 'toggle' || element.scrollTop < lastTop) sticks.current = isNear;
      lastTop = element.scrollTop;
      setAtEnd(sticks.current);
    };
    const onResize = new ResizeObserver(() => sticks.current && toEnd());
    element.addEventListener('scroll', look, { passive: true });
    // Unfolding something near the end is a wish to read it, not to be carried past it.
    element.addEventListener('toggle', look, true);
    for (const sized of [element, ...element.children]) onResize.observe(sized);
    return () => {
      element.removeEventListener('scroll', look);
      element.removeEventListener('toggle', look, true);
      onResize.disconnect();
    };
  }, []);

  useLayoutEffect(() => {
    if (sticks.current) toEnd();
  }, [conversation.lastSeq, conversation.turn, conversation.running, pending]);
  const newestPending = pending.at(-1)?.externalId;
  useLayoutEffect(() => {
    // One's own message is always shown.
    if (newestPending !== undefined) toEnd();
  }, [newestPending]);
  const leaveEnd = useCallback(() => void (sticks.current = false), []);
  return { isAtEnd, toEnd, leaveEnd };
}

/** What is being read stays where it is when older messages are put above it. */
function useKeptPlace(scroller: Scroller, firstSeq: number): void {
  const drawnFirstSeq = useRef(firstSeq);
  const kept = useRef<{ element: Element; top: number } | null>(null);
  if (firstSeq < drawnFirstSeq.current) {
    // The older messages are about to be drawn: the page is still as the reader sees it.
    const element = scroller.current?.querySelector('.item');
    kept.current =
      element === null || element === undefined ? null : { element, top: element.getBoundingClientRect().top };
  }
  drawnFirstSeq.current = firstSeq;
  useLayoutEffect(() => {
    if (scroller.current === null || !kept.current?.element.isConnected) return;
    scroller.current.scrollTop += kept.current.element.getBoundingClientRect().top - kept.current.top;
    kept.current = null;
  }, [firstSeq]);
}

function useSoughtInView(scroller: Scroller, seq: number | null, caughtUp: boolean, leaveEnd: () => void): void {
  useLayoutEffect(() => {
    const sought = seq === null || !caughtUp ? null : scroller.current?.querySelector(`[data-seq="${seq}"]`);
    if (sought === null || sought === undefined) return;
    leaveEnd();
    sought.scrollIntoView({ block: 'center' });
  }, [seq, caughtUp]);
}
