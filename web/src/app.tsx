/** The page: what outlives a login, and what is asked of the gateway as a whole. */
import { useCallback, useState } from 'preact/hooks';

import type { Api } from './api.ts';
import { Chat } from './chat.tsx';
import { LoginForm } from './login-form.tsx';
import { useOutbox } from './use-outbox.ts';

export function App({ api }: { api: Api }) {
  const [needsKey, setNeedsKey] = useState(false);
  const onUnauthorized = useCallback(() => setNeedsKey(true), []);
  const outgoing = useOutbox(api, onUnauthorized);
  if (!needsKey) return <Chat api={api} outgoing={outgoing} onUnauthorized={onUnauthorized} />;
  const onLogin = () => {
    setNeedsKey(false);
    outgoing.outbox?.resume();
  };
  return <LoginForm api={api} onLogin={onLogin} />;
}
