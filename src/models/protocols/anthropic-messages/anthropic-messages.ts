/**
 * Anthropic's dialect: one request becomes one body with its keys in a fixed order, tools and system prompt before the
 * messages, marks for the provider's cache on top. The bytes depend on the runtime and the request alone.
 */
import type { ApiKey, ModelRequest, Runtime } from '../../model.ts';
import type { EncodedRequest, Protocol } from '../protocol.ts';
import { historyMarks, marked, marksMax, type EncodedMessage } from '../cache-marks.ts';
import { createMessagesDecoder } from './decode-stream.ts';
import { encodeMessages, textBlock, turnBeganWithoutThought } from './encode-messages.ts';
import { isBlank, jsonText, toolName, toolParameters } from '../message-parts.ts';
import { thinkingOff, thinkingSetting, wantsBindingHeader, wantsInterleavedHeader } from './thinking-setting.ts';

/** Tokens of a subscription are only taken from a prompt that begins so. */
const subscriptionIdentity = "You are Claude Code, Anthropic's official CLI for Claude.";

/** A conversation begins with a person and ends with one; where ours doesn't, these stand in. */
const openingWords = '(The conversation began earlier.)';
const closingWords = 'Go on.';

export const anthropicMessages: Protocol = {
  path: '/v1/messages',
  headers: anthropicHeaders,
  encode,
  decoder: createMessagesDecoder,
};

function anthropicHeaders(runtime: Runtime, key: ApiKey): Readonly<Record<string, string>> {
  const isToken = key.oauth === true;
  const betas = [
    ...(isToken ? ['oauth-2025-04-20'] : []),
    ...(wantsInterleavedHeader(runtime) ? ['interleaved-thinking-2025-05-14'] : []),
    ...(wantsBindingHeader(runtime) ? ['thinking-binding-controls-2026-08-01'] : []),
  ];
  return {
    'anthropic-version': '2023-06-01',
    ...(betas.length > 0 && { 'anthropic-beta': betas.join(',') }),
    ...(key.secret !== '' && (isToken ? { authorization: `Bearer ${key.secret}` } : { 'x-api-key': key.secret })),
  };
}

function encode(runtime: Runtime, request: ModelRequest): EncodedRequest {
  const wanted = thinkingSetting(runtime, request.effort);
  const hasBudget = wanted.thinking?.budget_tokens !== undefined;
  const setting = hasBudget && turnBeganWithoutThought(runtime, request.messages) ? thinkingOff(runtime) : wanted;
  const settingJson = JSON.stringify(setting);
  const tools = request.tools.map(
    (tool) =>
      `{"name":"${toolName(tool.name)}","description":${jsonText(tool.description)},"input_schema":${toolParameters(tool)}}`,
  );
  const system = systemBlocks(runtime, request);
  const messages = encodeMessages(runtime, request);

  const marks = chooseMarks(runtime, tools, system, messages);
  const mark = (block: string) => marked(block, request.cachePace);
  const parts = [
    `"model":${jsonText(runtime.model)},"max_tokens":${runtime.outputTokensMax},"stream":true`,
    ...(settingJson === '{}' ? [] : [settingJson.slice(1, -1)]),
    ...(tools.length > 0 ? [`"tools":[${withMark(tools, marks.tools, mark)}]`] : []),
    ...(system.length > 0 ? [`"system":[${withMark(system, marks.system, mark)}]`] : []),
    `"messages":[${wireMessages(messages, marks.history, mark).join(',')}]`,
  ];
  return {
    body: `{${parts.join(',')}}`,
    units: [
      `[${tools.join(',')}]`,
      `[${system.join(',')}]`,
      settingJson,
      ...messages.map(({ role, blocks }) => `${role}:[${blocks.join(',')}]`),
    ],
    settingUnit: 2,
  };
}

function systemBlocks({ keys }: Runtime, { systemPrompt }: ModelRequest): string[] {
  return [
    ...(keys[0].oauth === true ? [textBlock(subscriptionIdentity)] : []),
    ...(isBlank(systemPrompt) ? [] : [textBlock(systemPrompt)]),
  ];
}

interface Marks {
  readonly tools: boolean;
  readonly system: boolean;
  readonly history: readonly number[];
}

function chooseMarks(
  runtime: Runtime,
  tools: readonly string[],
  system: readonly string[],
  messages: readonly EncodedMessage[],
): Marks {
  if (runtime.caching !== 'breakpoints') return { tools: false, system: false, history: [] };
  const history = historyMarks(messages);
  const hasSystem = system.length > 0;
  // The system prompt's mark keeps the tools before it, too. One of their own helps a session with another prompt.
  const isRoomLeft = history.length + (hasSystem ? 1 : 0) < marksMax;
  return { tools: tools.length > 0 && isRoomLeft, system: hasSystem, history };
}

function withMark(blocks: readonly string[], isMarked: boolean, mark: (block: string) => string): string {
  return blocks.map((block, index) => (isMarked && index === blocks.length - 1 ? mark(block) : block)).join(',');
}

/** Neighbours of the same role become one message: results and what a person adds to them are said in one breath. */
function wireMessages(
  messages: readonly EncodedMessage[],
  marks: readonly number[],
  mark: (block: string) => string,
): string[] {
  const wire: { role: 'user' | 'assistant'; blocks: string[] }[] = [];
  const say = (role: 'user' | 'assistant', blocks: readonly string[]) => {
    const last = wire.at(-1);
    if (last?.role === role) last.blocks.push(...blocks);
    else wire.push({ role, blocks: [...blocks] });
  };
  let position = 0;
  for (const { role, blocks } of messages) {
    if (blocks.length === 0) continue;
    if (wire.length === 0 && role === 'assistant') say('user', [textBlock(openingWords)]);
    const first = position;
    const told = blocks.map((block, index) => (marks.includes(first + index) ? mark(block) : block));
    say(role === 'assistant' ? 'assistant' : 'user', told);
    position += blocks.length;
  }
  if (wire.at(-1)?.role !== 'user') say('user', [textBlock(closingWords)]);
  return wire.map(({ role, blocks }) => `{"role":"${role}","content":[${blocks.join(',')}]}`);
}
