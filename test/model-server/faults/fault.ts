/** What can go wrong with an answer, where, and what a careful client should make of it. Pure: a fault says what is sent. */
import type { ModelErrorReason } from '../../../src/models/model.ts';
import type { Answer, Dialect, Frame, Protocol } from '../dialect.ts';
import type { Reply } from '../dialogue.ts';

/**
 * `before-first-byte`: nothing of the answer has been sent. `mid-stream`: half of it has. `after-tool-call`: of a whole
 * answer, it hits one that calls a tool, right after the first call; of a request, one that brings a tool's results.
 */
export const phases = ['before-first-byte', 'mid-stream', 'after-tool-call'] as const;
export type Phase = (typeof phases)[number];

export type Meaning = 'answer' | 'refused' | 'length' | ModelErrorReason;

export type Step =
  | { readonly kind: 'head'; readonly status: number; readonly headers: Readonly<Record<string, string>> }
  | { readonly kind: 'bytes'; readonly bytes: string | Uint8Array }
  | { readonly kind: 'wait'; readonly ms: number }
  | { readonly kind: 'end' }
  /** The connection is gone, without a word or with an error. */
  | { readonly kind: 'cut' }
  | { readonly kind: 'reset' }
  /** Nothing more, until the client leaves. */
  | { readonly kind: 'hang' };

export interface Streamed {
  readonly dialect: Dialect;
  readonly answer: Answer;
  readonly frames: readonly Frame[];
  /** How many of the frames have been sent when the fault strikes. */
  readonly struckAt: number;
}

export interface FaultOptions {
  readonly retryAfterS: number;
  readonly delayMs: number;
}

export type Effect =
  /** Something else than an answer. */
  | { readonly kind: 'instead'; readonly steps: (dialect: Dialect, options: FaultOptions) => readonly Step[] }
  /** Another answer than the script's. */
  | { readonly kind: 'content'; readonly change: (reply: Reply) => Reply }
  /** The same answer, on a bad line. */
  | { readonly kind: 'line'; readonly steps: (streamed: Streamed, options: FaultOptions) => readonly Step[] }
  /** Nobody listens at the address for `delayMs`. */
  | { readonly kind: 'refused' };

export interface Fault {
  readonly name: string;
  readonly phases: readonly Phase[];
  /** Which of these a client may take it for. */
  readonly means: readonly Meaning[];
  /** Where it is not possible in all of them. */
  readonly protocols?: readonly Protocol[];
  readonly effect: Effect;
}

export const streamHeaders = { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' };

export function head(headers: Readonly<Record<string, string>> = {}): Step {
  return { kind: 'head', status: 200, headers: { ...streamHeaders, ...headers } };
}

export function bytesOf({ name, data }: Frame, newline = '\n'): string {
  const title = name === '' ? '' : `event: ${name}${newline}`;
  return `${title}data: ${data}${newline}${newline}`;
}

export function send(frames: readonly Frame[]): Step[] {
  return frames.map((frame) => ({ kind: 'bytes', bytes: bytesOf(frame) }));
}
