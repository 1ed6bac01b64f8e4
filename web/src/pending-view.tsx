import { UserMessage } from './message-items.tsx';
import type { PendingMessage } from './outbox.ts';

export interface PendingViewProps {
  readonly message: PendingMessage;
  readonly isTurnRunning: boolean;
  readonly onRetry: (externalId: string) => void;
  readonly onDiscard: (externalId: string) => void;
}

/** A message that is not part of the stored conversation yet. */
export function PendingView({ message, isTurnRunning, onRetry, onDiscard }: PendingViewProps) {
  const { externalId, state, text } = message;
  return (
    <div class={`item user pending ${state.kind}`}>
      <UserMessage text={text} />
      {state.kind === 'failed' ? (
        <p class="pending-state" role="alert">
          Not sent: {state.problem}{' '}
          <button type="button" class="text" onClick={() => onRetry(externalId)}>
            Try again
          </button>{' '}
          <button type="button" class="text" onClick={() => onDiscard(externalId)}>
            Discard
          </button>
        </p>
      ) : (
        <p class="pending-state">
          {state.kind === 'sending' ? 'Sending…' : isTurnRunning ? 'Joins the turn…' : 'Sent'}
        </p>
      )}
    </div>
  );
}
