import type { StatusReport } from '../../src/protocol/api.ts';

const examples = ['run ls', 'read README.md', 'what can you do?'];

export interface EmptyStateProps {
  /** The name of a session that does not exist until something is said in it. */
  readonly missingName: string | null;
  readonly status: StatusReport | null;
  readonly onTry: (text: string) => void;
}

export function EmptyState({ missingName, status, onTry }: EmptyStateProps) {
  return (
    <div class="empty">
      <img src="/assets/icon.svg" alt="" width="56" height="56" />
      <h2>{missingName === null ? 'Hello. What shall we do?' : `There is no session “${missingName}” yet`}</h2>
      <p>
        {missingName === null
          ? 'Talaria is your own agent on your own machine: it talks, runs commands and works with files.'
          : 'Your first message starts it.'}
      </p>
      <div class="examples">
        {examples.map((text) => (
          <button key={text} type="button" onClick={() => onTry(text)}>
            {text}
          </button>
        ))}
      </div>
      {status?.model.provider === 'offline' && (
        <p class="rehearsal">
          This is a rehearsal: a small scripted model answers. To connect a real one, set <code>model</code> in{' '}
          <code>{status.config.path}</code>.
        </p>
      )}
    </div>
  );
}
