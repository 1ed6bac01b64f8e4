/** Which models can be asked for: `talaria`, which is whatever the configuration says, and those it names. */
import { json } from '../../http/http-message.ts';
import type { Route } from '../../http/router.ts';
import { OpenAiError } from './api-error.ts';
import type { OpenAiDeps } from './ask-question.ts';
import type { OpenAiPort } from './port.ts';

export const defaultModel = 'talaria';

export function modelRoutes({ port, clock }: Pick<OpenAiDeps, 'port' | 'clock'>): Route[] {
  const created = Math.floor(clock.now() / 1_000);
  const entries = async () => {
    const others = (await port.models()).filter(({ id }) => id !== defaultModel);
    return [{ id: defaultModel, ownedBy: 'talaria' }, ...others].map(({ id, ownedBy }) => ({
      id,
      object: 'model',
      created,
      owned_by: ownedBy,
    }));
  };
  const one = async (id: string) => {
    const model = (await entries()).find((entry) => entry.id === id);
    if (model === undefined) throw unknownModel(id);
    return json(model);
  };
  return [
    { method: 'GET', path: '/v1/models', handle: async () => json({ object: 'list', data: await entries() }) },
    { method: 'GET', path: '/v1/models/:id', handle: ({ params }) => one(params['id'] ?? '') },
    // Ids have a slash in them, and not every client encodes it.
    {
      method: 'GET',
      path: '/v1/models/:provider/:name',
      handle: ({ params }) => one(`${params['provider'] ?? ''}/${params['name'] ?? ''}`),
    },
  ];
}

/** Null for the default one. Throws if there is no such model. */
export async function modelChoice(port: OpenAiPort, id: string | null): Promise<string | null> {
  if (id === null || id === defaultModel) return null;
  if ((await port.models()).some((model) => model.id === id)) return id;
  throw unknownModel(id);
}

function unknownModel(id: string): OpenAiError {
  const name = JSON.stringify(id.slice(0, 200));
  return new OpenAiError(`There is no model ${name}; GET /v1/models lists those there are.`, {
    status: 404,
    type: 'invalid_request_error',
    code: 'model_not_found',
    param: 'model',
  });
}
