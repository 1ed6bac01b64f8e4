/** What a protocol has to say for itself: how it is read, checked, cached and answered. One file each in dialects/. */
import type { Dialogue, Reply, TokenFigures } from './dialogue.ts';
import type { Json } from './json.ts';
import type { Problem } from './problem.ts';

export const protocols = ['chat_completions', 'responses', 'anthropic_messages'] as const;
export type Protocol = (typeof protocols)[number];

/** One server-sent event, and where in the answer it stands. */
export interface Frame {
  /** Empty for none. */
  readonly name: string;
  readonly data: string;
  /** `call-end`: with it a tool call is whole. `stop`: says why the answer ends. `done`: nothing comes after it. */
  readonly place: 'start' | 'content' | 'call-end' | 'stop' | 'usage' | 'done';
}

/** A unit of the prompt, in the order in which the provider reads it. */
export interface PromptUnit {
  readonly text: string;
  /** Whether the provider is told to remember everything up to here, and for how long. */
  readonly mark: '5m' | '1h' | null;
}

export interface Prompt {
  readonly units: readonly PromptUnit[];
  /** `marks`: the cache works by marks; `automatic`: by what is common. */
  readonly caching: 'marks' | 'automatic';
  /** What requests that should meet the same cache have in common; empty if the request doesn't say. */
  readonly cacheKey: string;
}

export interface Answer {
  readonly id: string;
  readonly model: string;
  /** Seconds since 1970. */
  readonly createdS: number;
  readonly reply: Reply;
  readonly tokens: TokenFigures;
  /** The request, for what an answer repeats or leaves out because of it. */
  readonly body: Json;
}

export interface Rejection {
  readonly status: number;
  readonly body: Json;
}

/** What the server knows of earlier answers when it checks a request. */
export interface Memory {
  /** Whether this call was asked for with reasoning that has to come back. */
  isThoughtOf(model: string, name: string, argumentText: string): boolean;
}

export interface Dialect {
  readonly protocol: Protocol;
  /** What the provider would say against the request; null if nothing. */
  check(body: Json, headers: Readonly<Record<string, string>>, memory: Memory): Problem | null;
  dialogue(body: Json): Dialogue;
  prompt(body: Json): Prompt;
  /** Tokens that the answer may have; null if the request doesn't say. */
  outputTokensMax(body: Json): number | null;
  frames(answer: Answer): Frame[];
  /** The answer to a request that doesn't want a stream. */
  whole(answer: Answer): Json;
  /** How much too long a prompt is, in the provider's words. */
  overflow(inputTokens: number, windowTokens: number): Problem;
  rejection(problem: Problem): Rejection;
  /** Trouble in the middle of a stream. */
  errorFrame(problem: Problem): Frame;
  /** One more piece of text in an answer that is under way. */
  textFrame(text: string, answer: Answer): Frame;
  /** An event that no client knows yet. */
  unknownFrame(): Frame;
}

export function frame(place: Frame['place'], data: Json, name = ''): Frame {
  return { name, data: JSON.stringify(data), place };
}

/** Text in pieces that never split a character. */
export function piecesOf(text: string, chars: number): string[] {
  const letters = Array.from(text);
  const pieces: string[] = [];
  for (let start = 0; start < letters.length; start += chars) pieces.push(letters.slice(start, start + chars).join(''));
  return pieces;
}
