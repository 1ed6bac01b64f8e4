/** The part of the local API that is about people, keys, grants and direct messages. Translates and checks; decides nothing. */
import { credentialOf } from '../../http/access-key.ts';
import { json, type HttpRequest, type HttpResponse } from '../../http/http-message.ts';
import type { Route } from '../../http/router.ts';
import { ApiError, messageBytesMax, type PersonRole, type TalariaApi } from '../../protocol/api.ts';
import { readFields } from './read-fields.ts';

const smallBodyBytesMax = 4_000;
const textBodyBytesMax = messageBytesMax * 6 + smallBodyBytesMax;

export function adminRoutes(api: TalariaApi): Route[] {
  return [
    { method: 'GET', path: '/api/people', handle: async () => json(await api.people()) },
    {
      method: 'POST',
      path: '/api/people/approve',
      async handle(request) {
        const { code, role = 'user' } = await readFields(request, smallBodyBytesMax);
        return json(await api.approve(textField(code, 'code'), roleField(role)));
      },
    },
    {
      method: 'POST',
      path: '/api/people/revoke',
      async handle(request) {
        const { channel, userId } = await readFields(request, smallBodyBytesMax);
        return json({ revoked: await api.revoke(textField(channel, 'channel'), textField(userId, 'userId')) });
      },
    },
    {
      method: 'POST',
      path: '/api/send',
      async handle(request) {
        const { target, text } = await readFields(request, textBodyBytesMax);
        await api.sendTo(textField(target, 'target'), textField(text, 'text'));
        return json({ queued: true });
      },
    },
    { method: 'GET', path: '/api/keys', handle: async () => json({ keys: await api.apiKeys() }) },
    { method: 'POST', path: '/api/keys', handle: (request) => addKey(api, request) },
    {
      method: 'DELETE',
      path: '/api/keys/:name',
      handle: async (request: HttpRequest) => json({ removed: await api.removeApiKey(request.params['name'] ?? '') }),
    },
    { method: 'GET', path: '/api/tools', handle: async () => json({ tools: await api.tools() }) },
    {
      method: 'GET',
      path: '/api/prompt',
      handle: async (request) => json(await api.prompt(request.query.get('session'))),
    },
    { method: 'GET', path: '/api/grants', handle: async () => json({ grants: await api.grants() }) },
    {
      method: 'DELETE',
      path: '/api/grants/:id',
      handle: async (request: HttpRequest) => json({ removed: await api.revokeGrant(grantId(request.params['id'])) }),
    },
  ];
}

/** With any key in place every request needs one, and a named one opens nothing of the owner's. */
async function addKey(api: TalariaApi, request: HttpRequest): Promise<HttpResponse> {
  const { name } = await readFields(request, smallBodyBytesMax);
  const called = textField(name, 'name');
  // Who shows a key that is not asked for has just written it into the configuration.
  if (request.principal === undefined && credentialOf(request) === null) {
    throw new ApiError(
      'bad-request',
      'This key would lock you out, because you have none yet. First make your own: talaria config set channels.api.key KEY',
    );
  }
  // Its sessions would be those of the owner, who goes by this name.
  if (called === 'owner') throw new ApiError('bad-request', 'No key may be named owner; choose another name.');
  return json({ key: await api.addApiKey(called) });
}

function grantId(text = ''): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new ApiError('bad-request', 'The id of a grant is a number.');
}

function textField(value: unknown, name: string): string {
  if (typeof value === 'string' && value !== '') return value;
  throw new ApiError('bad-request', `\`${name}\` must be a text that is not empty.`);
}

function roleField(value: unknown): PersonRole {
  if (value === 'owner' || value === 'user') return value;
  throw new ApiError('bad-request', '`role` must be "owner" or "user".');
}
