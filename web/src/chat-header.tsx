import type { StatusReport } from '../../src/protocol/api.ts';
import { Icon } from './icon.tsx';

export interface ChatHeaderProps {
  readonly title: string;
  readonly status: StatusReport | null;
  /** The model that was chosen for this session; null: the configured one. */
  readonly chosenModel: string | null;
  readonly canDelete: boolean;
  readonly isListOpen: boolean;
  readonly onOpenList: () => void;
  readonly onDelete: () => void;
}

export function ChatHeader(props: ChatHeaderProps) {
  const { title, status, chosenModel, canDelete, isListOpen, onOpenList, onDelete } = props;
  return (
    <header class="chat-header">
      <button
        type="button"
        class="quiet drawer-only"
        aria-label="Sessions"
        aria-expanded={isListOpen}
        aria-controls="sidebar"
        onClick={onOpenList}
      >
        <Icon name="menu" />
      </button>
      <h1>{title}</h1>
      {chosenModel !== null ? (
        <span class="model" title="Chosen for this session">
          {chosenModel}
        </span>
      ) : (
        status !== null && <ConfiguredModel status={status} />
      )}
      {canDelete && (
        <button
          type="button"
          class="quiet"
          aria-label="Delete this session"
          title="Delete this session"
          onClick={onDelete}
        >
          <Icon name="trash" />
        </button>
      )}
    </header>
  );
}

function ConfiguredModel({ status }: { status: StatusReport }) {
  const { provider, name } = status.model;
  const isOffline = provider === 'offline';
  return (
    <span
      class={isOffline ? 'model offline' : 'model'}
      title={isOffline ? 'A small scripted model answers until a real one is connected.' : provider}
    >
      {isOffline ? `${provider} · rehearsal` : name}
    </span>
  );
}
