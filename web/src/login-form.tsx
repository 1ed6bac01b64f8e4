import { useState } from 'preact/hooks';

import { ApiError } from '../../src/protocol/api.ts';
import type { Api } from './api.ts';

/** Asks for the key where one is configured. The gateway answers a good one with a cookie. */
export function LoginForm({ api, onLogin }: { api: Api; onLogin: () => void }) {
  const [key, setKey] = useState('');
  const [problem, setProblem] = useState<string | null>(null);
  const login = () =>
    api.login(key).then(onLogin, (error: unknown) => {
      if (!(error instanceof ApiError)) throw error;
      setProblem(error.message);
    });
  return (
    <main class="login">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void login();
        }}
      >
        <img src="/assets/icon.svg" alt="" width="48" height="48" />
        <h1>Talaria</h1>
        <label for="key">This gateway wants a key. It is the value of channels.api.key in its configuration.</label>
        <input
          id="key"
          type="password"
          autoComplete="current-password"
          required
          autoFocus
          value={key}
          onInput={(event) => setKey(event.currentTarget.value)}
        />
        {problem !== null && (
          <p class="problem" role="alert">
            {problem}
          </p>
        )}
        <button type="submit" class="primary" disabled={key === ''}>
          Log in
        </button>
      </form>
    </main>
  );
}
