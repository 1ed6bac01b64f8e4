import { useEffect, useRef } from 'preact/hooks';

export interface Shortcuts {
  readonly onSearch: () => void;
  readonly onNewChat: () => void;
  readonly onEscape: () => void;
}

/** `/` searches, Ctrl+K or ⌘K starts a chat, Escape ends what can be ended. An open dialog keeps its keys. */
export function useShortcuts(shortcuts: Shortcuts): void {
  const newest = useRef(shortcuts);
  newest.current = shortcuts;
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.isComposing || document.querySelector('dialog[open]') !== null) return;
      const action = actionOf(event);
      if (action === null) return;
      event.preventDefault();
      newest.current[action]();
    };
    addEventListener('keydown', onKeyDown);
    return () => removeEventListener('keydown', onKeyDown);
  }, []);
}

function actionOf(event: KeyboardEvent): keyof Shortcuts | null {
  const isWriting = event.target instanceof HTMLElement && event.target.matches('input, textarea, select');
  if (event.key === 'Escape') return 'onEscape';
  if (event.key.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey) && !event.shiftKey) return 'onNewChat';
  if (event.key === '/' && !isWriting && !event.ctrlKey && !event.metaKey && !event.altKey) return 'onSearch';
  return null;
}
