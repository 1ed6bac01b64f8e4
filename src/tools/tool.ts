/**
 * The contract of a tool. A tool reports its own failures as an outcome the model can read; an exception from `run`
 * is a bug or an abort and is turned into a failed result by the caller. A tool neither starts a turn nor sends to a
 * channel: what it needs from above it asks for through the context.
 */
import type { CallId, SessionId } from '../protocol/ids.ts';
import type { ToolDefinition } from '../protocol/messages.ts';

/** What a call does to the world: only looks, changes something, or acts on Talaria itself. */
export type ToolEffect = 'read' | 'write' | 'self';

/** May a call that started and left no trace be run again? */
export type ToolReplay = 'safe' | 'never';

export interface ToolContext {
  readonly sessionId: SessionId;
  readonly callId: CallId;
  /** Where relative paths start and commands run. Absolute. */
  readonly workspace: string;
  /** Aborts on stop and on shutdown; the tool ends what it started before it returns. */
  readonly signal: AbortSignal;
  /** Shows what the tool prints while it runs. May be called any number of times, never throws. */
  readonly onOutput: (text: string) => void;
}

export type ToolOutcome =
  | { readonly kind: 'finished'; readonly text: string }
  /** `text` tells the model what went wrong and what it could do instead. */
  | { readonly kind: 'failed'; readonly text: string };

export type ParsedArguments<Arguments> =
  | { readonly ok: true; readonly value: Arguments }
  | { readonly ok: false; readonly problem: string };

export interface Tool<Arguments = unknown> {
  readonly definition: ToolDefinition;
  readonly effect: ToolEffect;
  readonly replay: ToolReplay;
  /** Checks the decoded JSON; never throws. */
  parse(input: unknown): ParsedArguments<Arguments>;
  run(input: Arguments, context: ToolContext): Promise<ToolOutcome>;
}
