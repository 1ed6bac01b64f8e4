/** `POST /v1/responses`, and responses asked for again. */
import { json, readJson, type HttpRequest, type HttpResponse } from '../../http/http-message.ts';
import { badRequest, OpenAiError } from './api-error.ts';
import { askQuestion, factsOf, repeatableId, type OpenAiDeps } from './ask-question.ts';
import { placeOf, sessionNameIn, type Placed } from './asked-session.ts';
import { newlyAsked, type Said } from './conversation.ts';
import { requestBytesMax, streamed, whole } from './http-answer.ts';
import { defaultModel, modelChoice } from './model-routes.ts';
import type { OneAtATime } from './one-at-a-time.ts';
import type { AskedSession } from './port.ts';
import { responseEvents } from './response-events.ts';
import { outputOf, responseObject, type Echoed } from './response-object.ts';
import { responsesRequest } from './responses-request.ts';
import { findResponse, type StoredResponse } from './stored-response.ts';
import { resultOf } from './turn-result.ts';

export async function respond(deps: OpenAiDeps, turns: OneAtATime, request: HttpRequest): Promise<HttpResponse> {
  const { said, stream, ...wanted } = responsesRequest(await readJson(request, requestBytesMax));
  const choice = await modelChoice(deps.port, wanted.model);
  const { previousResponseId: previous } = wanted;
  const ask = (placed: Placed) => askQuestion(deps, request, { ...placed, model: choice, param: 'input' });
  const answering =
    previous === null
      ? await ask(placeOf(request, said, 'input', wanted.store))
      : // Of several that follow the same response at the same time, one is the first.
        await turns.run(previous, async () => ask(await afterResponse(deps, request, previous, said)));
  const echoed = { ...wanted, model: wanted.model ?? defaultModel };
  if (stream) return streamed(deps.clock, answering, responseEvents(answering, echoed));
  return whole(answering, async (end) => {
    const result = resultOf(end, await answering.facts(end));
    return responseObject(answering, echoed, outputOf(answering, end.texts, result), { kind: 'done', result });
  });
}

/** In the session of an earlier response, which must be its newest: a log has one end. */
async function afterResponse(
  deps: OpenAiDeps,
  request: HttpRequest,
  id: string,
  said: readonly Said[],
): Promise<Placed> {
  const param = 'previous_response_id';
  if (sessionNameIn(request) !== null) {
    throw badRequest('Give either previous_response_id or X-Talaria-Session, not both.', param);
  }
  const asked = newlyAsked(said, 'input');
  const found = await findResponse(deps, request, id);
  if (found === null) throw badRequest('There is no such response.', param, 'previous_response_not_found');
  const session = { kind: 'existing', id: found.sessionId } as const;
  if (found.end === null || !(await isStillNext(deps, request, found, session))) throw outdated(found, param);
  return { session, asked };
}

/** Nothing follows the response yet, or a first try of this very request. */
async function isStillNext(
  deps: OpenAiDeps,
  request: HttpRequest,
  { next }: StoredResponse,
  session: AskedSession,
): Promise<boolean> {
  if (next === null) return true;
  const id = repeatableId(deps, request, session);
  return id !== null && (await deps.port.externalId(deps.userOf(request), next)) === id;
}

function outdated({ end }: StoredResponse, param: string): OpenAiError {
  const text =
    end === null
      ? 'That response is still being written; go on from it when it is done.'
      : 'The session has gone on since that response; go on from its newest one.';
  const details = { status: 409, type: 'invalid_request_error', code: 'previous_response_outdated', param } as const;
  return new OpenAiError(text, details);
}

export async function showResponse(deps: OpenAiDeps, request: HttpRequest): Promise<HttpResponse> {
  const found = await findResponse(deps, request, request.params['id'] ?? '');
  if (found === null) {
    const details = { status: 404, type: 'invalid_request_error', code: 'not_found', param: 'id' } as const;
    throw new OpenAiError('There is no such response.', details);
  }
  const { end, texts } = found;
  if (end === null) return json(responseObject(found, unknown, outputOf(found, texts, null), { kind: 'going-on' }));
  try {
    const result = resultOf(end, await factsOf(deps.port, found.sessionId, end));
    return json(responseObject(found, unknown, outputOf(found, texts, result), { kind: 'done', result }));
  } catch (error) {
    if (!(error instanceof OpenAiError)) throw error;
    return json(responseObject(found, unknown, outputOf(found, texts, null), { kind: 'failed', error }));
  }
}

/** What the request said besides its message is not kept. */
const unknown: Echoed = {
  model: defaultModel,
  instructions: null,
  previousResponseId: null,
  store: true,
  metadata: {},
};
