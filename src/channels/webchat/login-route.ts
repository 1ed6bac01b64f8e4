/** Where a browser trades the owner's key for a cookie. Keys with names are for programs: the page could do nothing with one. */
import { loginCookie } from '../../http/access-key.ts';
import { HttpProblem, readJson } from '../../http/http-message.ts';
import { plainKeyName, type KeyRing } from '../../http/key-ring.ts';
import type { Route } from '../../http/router.ts';

const loginBytesMax = 4_096;

export const loginPath = '/api/login';

export function loginRoute(ring: KeyRing): Route {
  return {
    method: 'POST',
    path: loginPath,
    async handle(request) {
      if (!ring.isLocked()) return { status: 204 };
      const body = await readJson(request, loginBytesMax);
      const given = typeof body === 'object' && body !== null && 'key' in body ? body.key : null;
      if (typeof given !== 'string' || ring.identifyKey(given)?.name !== plainKeyName) {
        throw new HttpProblem(
          401,
          'unauthorized',
          'That is not the key. It stands in the configuration as channels.api.key.',
        );
      }
      return { status: 204, headers: { 'set-cookie': loginCookie(given) } };
    },
  };
}
