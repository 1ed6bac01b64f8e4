/**
 * The ways in which APIs differ from OpenAI's chat completions, each with its name. A runtime lists those that hold for
 * its provider and model; without any, the request is the plainest one that most servers accept: role `system`,
 * `max_tokens`, usage asked for in the stream, no effort, no reasoning sent back.
 */
import type { Runtime } from '../../model.ts';

export const chatCompletionsQuirks = [
  /** The system prompt has the role `developer` (OpenAI's reasoning models). */
  'developer-role',
  /** The longest answer is limited by `max_completion_tokens` (OpenAI's reasoning models refuse `max_tokens`). */
  'max-completion-tokens',
  /** No limit for the answer is sent; the server's own holds. */
  'no-output-limit',
  /** `stream_options` is refused; usage comes by itself or not at all (Mistral). */
  'no-stream-options',
  /** The session is sent as `prompt_cache_key`, so that its calls meet the same cache (OpenAI). */
  'prompt-cache-key',
  /** `usage: {include: true}` asks for cost and cached tokens (OpenRouter). */
  'usage-include',
  /** How hard to think is sent as `reasoning_effort`. */
  'reasoning-effort',
  /** How hard to think is sent as `reasoning: {effort}` (OpenRouter). */
  'reasoning-object',
  /** Thinking is only on or off, sent as `thinking: {type}` (Z.ai, Moonshot, DeepSeek). */
  'thinking-switch',
  /** The effort `none` is known; without this the lowest is `minimal` or `low`. */
  'effort-none',
  /** The effort `minimal` is known; without this it becomes `low`. */
  'effort-minimal',
  /** The effort `max` is sent as `xhigh`; without this it becomes `high`. */
  'effort-xhigh',
  /** An answer that calls tools must come back with its thoughts as `reasoning_content` (DeepSeek, Moonshot, Z.ai). */
  'reasoning-content-back',
  /** `reasoning_details` come back as they were, in order (OpenRouter). */
  'reasoning-details-back',
  /** Calls come back with `extra_content.google.thought_signature` (Google). */
  'thought-signatures',
  /** A call's id is exactly nine letters and digits (Mistral). */
  'short-call-ids',
  /** A person can't speak straight after a tool: a short answer is put between them (Mistral). */
  'assistant-after-tool',
] as const;

export type ChatCompletionsQuirk = (typeof chatCompletionsQuirks)[number];

export function hasQuirk(runtime: Runtime, quirk: ChatCompletionsQuirk): boolean {
  return runtime.quirks.includes(quirk);
}
