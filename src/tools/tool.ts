/**
 * The contract of a tool. A tool reports its own failures as an outcome the model can read; an exception from `run`
 * is a bug or an abort and is turned into a failed result by the caller. A tool neither starts a turn nor sends to a
 * channel: what it needs from above it asks for through the context.
 */
import type { CallId, SessionId } from '../protocol/ids.ts';
import type { Question, ToolDefinition } from '../protocol/messages.ts';

/** What a call does to the world: only looks, changes something, or acts on Talaria itself. */
export type ToolEffect = 'read' | 'write' | 'self';

/**
 * What may be done about a call that started and has no result, because the process died? `safe`: run it again.
 * `attach`: what it started lives on and can be taken up again. `never`: nothing; its outcome is unknown.
 */
export type ToolReplay = 'safe' | 'attach' | 'never';

/** `any`: beside every other call. `alone`: beside none. A list: what it works on; not beside a call with one in common. */
export type SideBySide = 'any' | 'alone' | readonly string[];

export interface ToolContext {
  readonly sessionId: SessionId;
  readonly callId: CallId;
  /** Where relative paths start and commands run. Absolute. */
  readonly workspace: string;
  /** Where files of this session's calls are kept that outlive the process. Absolute; may not exist yet. */
  readonly spoolFolder: string;
  /** Aborts on stop and on shutdown; the tool ends what it started before it returns. */
  readonly signal: AbortSignal;
  /** Shows what the tool prints while it runs. May be called any number of times, never throws. */
  readonly onOutput: (text: string) => void;
}

export type ToolOutcome =
  | { readonly kind: 'finished'; readonly text: string }
  /** `text` tells the model what went wrong and what it could do instead. */
  | { readonly kind: 'failed'; readonly text: string }
  /** A person must answer first; `answered` goes on from there. Nothing of this process is needed meanwhile. */
  | ({ readonly kind: 'ask' } & Question)
  /** Only from `attach`: what became of it can't be told. */
  | { readonly kind: 'unknown'; readonly text: string };

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
  /** Takes up what an earlier process's `run` of the same call began. There exactly if `replay` is `attach`. */
  attach?(input: Arguments, context: ToolContext): Promise<ToolOutcome>;
  /** Goes on after a question: `answer` is null if nobody answered in time. There for every tool that asks. */
  answered?(input: Arguments, answer: string | null, context: ToolContext): Promise<ToolOutcome>;
  /** Which other calls of the same answer it may run beside. By default `any` for what only reads, else `alone`. */
  sideBySide?(input: Arguments): SideBySide;
}
