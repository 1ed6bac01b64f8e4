import type { StatusReport } from '../../src/protocol/api.ts';
import { Icon } from './icon.tsx';

export interface ChatHeaderProps {
  readonly title: string;
  readonly status: StatusReport | null;
  readonly canDelete: boolean;
  readonly isListOpen: boolean;
  readonly onOpenList: () => void;
  readonly onDelete: () => void;
}

export function ChatHeader({ title, status, canDelete, isListOpen, onOpenList, onDelete }: ChatHeaderProps) {
  const isOffline = status?.model.provider === 'offline';
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
      {status !== null && (
        <span
          class={isOffline ? 'model offline' : 'model'}
          title={isOffline ? 'A small scripted model answers until a real one is connected.' : status.model.provider}
        >
          {isOffline ? `${status.model.provider} · rehearsal` : status.model.name}
        </span>
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
