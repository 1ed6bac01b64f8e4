/**
 * A request as the bytes of the chat completions dialect. The same request gives the same bytes: the order of fields is
 * fixed, and what stays the same stands before what grows.
 */
import type { Effort } from '../../../protocol/usage.ts';
import type { ToolDefinition } from '../../../protocol/messages.ts';
import { isBlank, jsonText, toolName, toolParameters } from '../message-parts.ts';
import { historyMarks, marked } from '../cache-marks.ts';
import type { ModelRequest, Runtime } from '../../model.ts';
import { hasQuirk } from './quirks.ts';
import { fingerprint } from './wire-call-id.ts';
import { textMessage, wireMessages, type WireMessage } from './wire-message.ts';

/** OpenAI takes no longer ones. */
const cacheKeyCharsMax = 64;

export function encode(runtime: Runtime, request: ModelRequest): { body: string; units: string[] } {
  const tools = request.tools.map(toolJson).join(',');
  const role = hasQuirk(runtime, 'developer-role') ? 'developer' : 'system';
  const system = isBlank(request.systemPrompt) ? [] : [textMessage(role, request.systemPrompt)];
  const messages = wireMessages(runtime, request);
  const isMarked = runtime.caching === 'breakpoints';
  const plain = [...system, ...messages].map((message) => messageJson(message, isMarked, null));
  const sent = isMarked ? withMarks(system, messages, request.cachePace) : plain;
  const effort = effortFields(runtime, request.effort);
  const head = JSON.stringify({ ...settings(runtime, request), ...effort }).slice(0, -1);
  return {
    body: `${head}${tools === '' ? '' : `,"tools":[${tools}]`},"messages":[${sent.join(',')}]}`,
    units: [
      `[${tools}]`,
      system.length > 0 ? (plain[0] ?? '') : '',
      JSON.stringify(effort),
      ...plain.slice(system.length),
    ],
  };
}

function settings(runtime: Runtime, request: ModelRequest): Record<string, unknown> {
  const has = (quirk: Parameters<typeof hasQuirk>[1]) => hasQuirk(runtime, quirk);
  const limit = has('max-completion-tokens') ? 'max_completion_tokens' : 'max_tokens';
  const { cacheKey } = request;
  return {
    model: runtime.model,
    stream: true,
    ...(has('no-stream-options') ? {} : { stream_options: { include_usage: true } }),
    ...(has('usage-include') ? { usage: { include: true } } : {}),
    ...(has('no-output-limit') ? {} : { [limit]: runtime.outputTokensMax }),
    ...(has('prompt-cache-key') && cacheKey !== ''
      ? { prompt_cache_key: cacheKey.length <= cacheKeyCharsMax ? cacheKey : fingerprint(cacheKey) }
      : {}),
  };
}

function effortFields(runtime: Runtime, effort: Effort | null): Record<string, unknown> {
  if (effort === null || !runtime.reasons) return {};
  const isOff = effort === 'none';
  const fields: Record<string, unknown> = {};
  if (hasQuirk(runtime, 'thinking-switch')) fields['thinking'] = { type: isOff ? 'disabled' : 'enabled' };
  if (hasQuirk(runtime, 'reasoning-object')) fields['reasoning'] = { effort: effort === 'max' ? 'xhigh' : effort };
  if (hasQuirk(runtime, 'reasoning-effort') && !(isOff && hasQuirk(runtime, 'thinking-switch'))) {
    fields['reasoning_effort'] = knownEffort(runtime, effort);
  }
  return fields;
}

/** The nearest one that the model knows. */
function knownEffort(runtime: Runtime, effort: Effort): string {
  if (effort === 'max') return hasQuirk(runtime, 'effort-xhigh') ? 'xhigh' : 'high';
  if (effort === 'none' && hasQuirk(runtime, 'effort-none')) return 'none';
  if (effort === 'none' || effort === 'minimal') return hasQuirk(runtime, 'effort-minimal') ? 'minimal' : 'low';
  return effort;
}

function toolJson(tool: ToolDefinition): string {
  const name = jsonText(toolName(tool.name));
  const told = `"description":${jsonText(tool.description)},"parameters":${toolParameters(tool)}`;
  return `{"type":"function","function":{"name":${name},${told}}}`;
}

/**
 * Contents are plain text where that will do, because not every server takes parts. Where there are marks they are always
 * parts, so that a mark that moves on changes nothing else.
 */
function messageJson(message: WireMessage, asParts: boolean, pace: ModelRequest['cachePace'] | null): string {
  const { role, content, text, fields } = message;
  const parts = content.map((part, index) =>
    pace !== null && index === content.length - 1 ? marked(part, pace) : part,
  );
  const written = content.length === 0 ? 'null' : text !== null && !asParts ? jsonText(text) : `[${parts.join(',')}]`;
  return `{"role":"${role}","content":${written}${fields}}`;
}

/** At most four marks: the system prompt, with the tools before it, and up to three in the messages. */
function withMarks(
  system: readonly WireMessage[],
  messages: readonly WireMessage[],
  pace: ModelRequest['cachePace'],
): string[] {
  const blocks = messages.map(({ content, calls }) => content.length + calls);
  const encoded = messages.map(({ role }, index) => ({
    role: role === 'assistant' || role === 'tool' ? role : ('user' as const),
    blocks: Array.from({ length: blocks[index] ?? 0 }, () => ''),
  }));
  const marks = new Set(historyMarks(encoded));
  let last = -1;
  const isMarked = blocks.map((count) => {
    last += count;
    return count > 0 && marks.has(last);
  });
  return [
    ...system.map((message) => messageJson(message, true, pace)),
    ...messages.map((message, index) => messageJson(message, true, isMarked[index] === true ? pace : null)),
  ];
}
