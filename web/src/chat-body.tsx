/** What stands between the header and the composer: a conversation, or a greeting where there is none yet. */
import type { ParkedAction, StatusReport } from '../../src/protocol/api.ts';
import { EmptyState } from './empty-state.tsx';
import type { PressButton } from './notice.tsx';
import type { Outbox, PendingMessage } from './outbox.ts';
import type { GiveAnswer } from './question-card.tsx';
import type { Route } from './route.ts';
import { Transcript } from './transcript.tsx';
import type { FollowedSession } from './use-conversation.ts';

export interface ChatBodyProps {
  readonly route: Route;
  readonly followed: FollowedSession;
  readonly pending: readonly PendingMessage[];
  readonly outbox: Outbox | null;
  readonly status: StatusReport | null;
  readonly onSend: (text: string) => void;
  /** What to do about the parked turn; null if none is parked. */
  readonly onParked: ((action: ParkedAction) => Promise<void>) | null;
  readonly onAnswer: GiveAnswer;
  readonly onPress: PressButton;
}

export function ChatBody(props: ChatBodyProps) {
  const { route, followed, pending, outbox, status, onSend } = props;
  const { conversation, connection } = followed;
  const isMissing = connection.kind === 'missing';
  const isReadToTheStart = conversation.caughtUp && conversation.firstSeq === 1;
  const isSilent = conversation.items.length === 0 && conversation.turn === null && pending.length === 0;
  if (isSilent && (route.session === null || isMissing || isReadToTheStart))
    return <EmptyState missingName={isMissing ? route.session : null} status={status} onTry={onSend} />;
  return (
    <Transcript
      key={route.session}
      conversation={conversation}
      pending={pending}
      soughtSeq={route.seq}
      isLoadingEarlier={followed.isLoadingEarlier}
      onLoadEarlier={followed.loadEarlier}
      onRetry={(externalId) => outbox?.retry(externalId)}
      onDiscard={(externalId) => outbox?.remove([externalId])}
      onParked={props.onParked}
      onAnswer={props.onAnswer}
      onPress={props.onPress}
    />
  );
}
