/** Where a browser trades the key for a cookie. */
import { isKey, loginCookie } from '../../http/access-key.ts';
import { HttpProblem, readJson } from '../../http/http-message.ts';
import type { Route } from '../../http/router.ts';

const loginBytesMax = 4_096;

/** `key`: the one in force at the moment of asking; null if none is configured. */
export function loginRoute(key: () => string | null): Route {
  return {
    method: 'POST',
    path: '/api/login',
    async handle(request) {
      const wanted = key();
      if (wanted === null) return { status: 204 };
      const body = await readJson(request, loginBytesMax);
      const given = typeof body === 'object' && body !== null && 'key' in body ? body.key : null;
      if (typeof given !== 'string' || !isKey(given, wanted)) {
        throw new HttpProblem(
          401,
          'unauthorized',
          'That is not the key. It stands in the configuration as channels.api.key.',
        );
      }
      return { status: 204, headers: { 'set-cookie': loginCookie(wanted) } };
    },
  };
}
