/** `POST /v1/chat/completions`. */
import { readJson, type HttpRequest, type HttpResponse } from '../../http/http-message.ts';
import { askQuestion, type OpenAiDeps } from './ask-question.ts';
import { placeOf } from './asked-session.ts';
import { chatChunks, chatCompletion } from './chat-answer.ts';
import { chatRequest } from './chat-request.ts';
import { requestBytesMax, streamed, whole } from './http-answer.ts';
import { defaultModel, modelChoice } from './model-routes.ts';

export async function completeChat(deps: OpenAiDeps, request: HttpRequest): Promise<HttpResponse> {
  const { said, stream, includeUsage, ...wanted } = chatRequest(await readJson(request, requestBytesMax));
  const choice = await modelChoice(deps.port, wanted.model);
  const placed = placeOf(request, said, 'messages', false);
  const answering = await askQuestion(deps, request, { ...placed, model: choice, param: 'messages' });
  const model = wanted.model ?? defaultModel;
  if (stream) return streamed(deps.clock, answering, chatChunks(answering, { model, includeUsage }));
  return whole(answering, (end) => chatCompletion(answering, model, end));
}
