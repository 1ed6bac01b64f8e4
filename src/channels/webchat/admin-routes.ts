/** The part of the local API that is about people, keys, grants and direct messages. Translates and checks; decides nothing. */
import { json, type HttpRequest } from '../../http/http-message.ts';
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
    {
      method: 'POST',
      path: '/api/keys',
      async handle(request) {
        const { name } = await readFields(request, smallBodyBytesMax);
        return json({ key: await api.addApiKey(textField(name, 'name')) });
      },
    },
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
