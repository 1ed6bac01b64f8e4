/** Anthropic's messages. */
import type { Dialect, Prompt, PromptUnit } from '../dialect.ts';
import type { Dialogue, Utterance } from '../dialogue.ts';
import { listOf, objectOf, textOf, type Json } from '../json.ts';
import { checkAnthropic } from './anthropic-check.ts';
import { anthropicError, anthropicRejection } from './anthropic-errors.ts';
import { event, messageFrames, messageTextFrame, wholeMessage } from './anthropic-frames.ts';
import { blocksOf, markOf, unmarked } from './anthropic-marks.ts';

export const anthropicMessages: Dialect = {
  protocol: 'anthropic_messages',
  check: checkAnthropic,
  dialogue,
  prompt,
  outputTokensMax: (body) => Number(body['max_tokens']),
  frames: messageFrames,
  whole: wholeMessage,
  overflow: (inputTokens, windowTokens) => ({
    kind: 'context',
    message: `prompt is too long: ${inputTokens} tokens > ${windowTokens} maximum`,
  }),
  rejection: anthropicRejection,
  errorFrame: (problem) => ({ name: 'error', data: JSON.stringify(anthropicError(problem)), place: 'stop' }),
  textFrame: messageTextFrame,
  unknownFrame: () => event('content', 'weather_delta', { forecast: 'rain' }),
};

function dialogue(body: Json): Dialogue {
  const { type } = objectOf(body['thinking']);
  return {
    model: textOf(body['model']),
    toolNames: new Set(listOf(body['tools']).map((tool) => textOf(objectOf(tool)['name']))),
    utterances: listOf(body['messages']).map(objectOf).flatMap(utterancesOf),
    thinking: type === 'enabled' || type === 'adaptive' ? 'yes' : 'no',
  };
}

/** One message may carry results and words; the words come after the results. */
function utterancesOf(message: Json): Utterance[] {
  const { role, content } = message;
  const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : listOf(content).map(objectOf);
  const texts = blocks.filter((block) => block['type'] === 'text').map((block) => textOf(block['text']));
  if (role === 'assistant') {
    const calls = blocks
      .filter((block) => block['type'] === 'tool_use')
      .map((block) => ({
        id: textOf(block['id']),
        name: textOf(block['name']),
        arguments: JSON.stringify(block['input']),
      }));
    return [{ role: 'assistant', text: texts.join(''), calls }];
  }
  const results = blocks
    .filter((block) => block['type'] === 'tool_result')
    .map((block): Utterance => {
      return { role: 'result', callId: textOf(block['tool_use_id']), text: resultText(block['content']) };
    });
  return [...results, ...texts.map((text): Utterance => ({ role: 'user', text }))];
}

function resultText(content: unknown): string {
  if (typeof content === 'string') return content;
  return listOf(content)
    .map((part) => textOf(objectOf(part)['text']))
    .join('');
}

/** How much a model shall think counts as part of the messages; which tool it must use too. */
function prompt(body: Json): Prompt {
  const blocks = blocksOf(body);
  const settings = JSON.stringify([body['thinking'] ?? null, body['tool_choice'] ?? null]);
  const firstMessage = blocks.findIndex(({ part }) => part === 'messages');
  const units = blocks.map((block, index): PromptUnit => {
    const text = index === firstMessage ? `${settings}${unmarked(block)}` : unmarked(block);
    return { text, mark: markOf(block.block) };
  });
  const last = units.at(-1);
  if (body['cache_control'] !== undefined && last !== undefined) {
    units[units.length - 1] = { ...last, mark: objectOf(body['cache_control'])['ttl'] === '1h' ? '1h' : '5m' };
  }
  return { units, caching: 'marks', cacheKey: '' };
}
