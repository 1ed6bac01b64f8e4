/** OpenAI's responses, without anything kept at the provider. */
import { frame, type Dialect, type Prompt, type PromptUnit } from '../dialect.ts';
import type { Dialogue, Utterance } from '../dialogue.ts';
import { listOf, objectOf, textOf, without, type Json } from '../json.ts';
import { openaiError, openaiRejection } from './openai-errors.ts';
import { checkResponses } from './responses-check.ts';
import { responseFrames, responseTextFrame, wholeResponse } from './responses-frames.ts';

export const responses: Dialect = {
  protocol: 'responses',
  check: checkResponses,
  dialogue,
  prompt,
  outputTokensMax: (body) => {
    const most = body['max_output_tokens'];
    return typeof most === 'number' ? most : null;
  },
  frames: responseFrames,
  whole: wholeResponse,
  overflow: () => ({ kind: 'context', param: 'input' }),
  rejection: openaiRejection,
  errorFrame: (problem) => {
    const { code, message, type, param } = openaiError(problem);
    return frame('stop', { type: 'error', sequence_number: 901, code: code ?? type, message, param }, 'error');
  },
  textFrame: responseTextFrame,
  unknownFrame: () =>
    frame(
      'content',
      { type: 'response.weather.delta', sequence_number: 902, forecast: 'rain' },
      'response.weather.delta',
    ),
};

function inputOf(body: Json): Json[] {
  const { input } = body;
  if (typeof input === 'string') return [{ type: 'message', role: 'user', content: input }];
  return listOf(input).map(objectOf);
}

function dialogue(body: Json): Dialogue {
  const utterances: Utterance[] = [];
  for (const item of inputOf(body)) {
    const last = utterances.at(-1);
    switch (item['type'] ?? 'message') {
      case 'message': {
        const text = contentText(item['content']);
        if (item['role'] === 'user') utterances.push({ role: 'user', text });
        if (item['role'] === 'assistant') utterances.push({ role: 'assistant', text, calls: [] });
        break;
      }
      case 'function_call': {
        const call = {
          id: textOf(item['call_id']),
          name: textOf(item['name']),
          arguments: textOf(item['arguments']),
        };
        // The words and the calls of one answer are items side by side.
        if (last?.role === 'assistant') {
          utterances[utterances.length - 1] = { ...last, calls: [...last.calls, call] };
        } else utterances.push({ role: 'assistant', text: '', calls: [call] });
        break;
      }
      case 'function_call_output':
        utterances.push({ role: 'result', callId: textOf(item['call_id']), text: contentText(item['output']) });
        break;
      default:
    }
  }
  return {
    model: textOf(body['model']),
    toolNames: new Set(listOf(body['tools']).map((tool) => textOf(objectOf(tool)['name']))),
    utterances,
    thinking: thinkingOf(body),
  };
}

function thinkingOf(body: Json): Dialogue['thinking'] {
  const { effort } = objectOf(body['reasoning']);
  if (effort === 'none') return 'no';
  return effort === undefined || effort === null ? 'may' : 'yes';
}

function contentText(content: unknown): string {
  if (typeof content === 'string') return content;
  return listOf(content)
    .map((part) => textOf(objectOf(part)['text']))
    .join('');
}

function prompt(body: Json): Prompt {
  const text = objectOf(body['text']);
  const units: PromptUnit[] = [
    ...listOf(body['tools']).map((tool) => unit(JSON.stringify(tool))),
    ...(Object.keys(text).length === 0 ? [] : [unit(JSON.stringify(without(text, 'verbosity')))]),
    ...(body['instructions'] === undefined ? [] : [unit(textOf(body['instructions']))]),
    ...inputOf(body).map((item) => unit(JSON.stringify(item))),
  ];
  return { units, caching: 'automatic', cacheKey: textOf(body['prompt_cache_key']) };
}

function unit(text: string): PromptUnit {
  return { text, mark: null };
}
