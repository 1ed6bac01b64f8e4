/**
 * The contract of a tool. A tool reports its own failures as an outcome the model can read; an exception from `run`
 * is a bug or an abort and is turned into a failed result by the caller. A tool neither starts a turn nor sends to a
 * channel: what it needs from above it asks for through the context.
 */
import type { CallId, SessionId } from '../protocol/ids.ts';
import type { Question, ToolDefinition, UntrustedSource } from '../protocol/messages.ts';

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
  /** The turn has read what a stranger wrote: what sends data out or changes Talaria asks first. Null if it has not. */
  readonly untrusted: UntrustedSource | null;
  /** A schedule or another program began the turn: nobody is there to answer. */
  readonly isUnattended: boolean;
  /** Whether these very words stand in what people wrote or tools returned: an address made up by the model does not. */
  readonly wasShown: (text: string) => boolean;
  /** What a model for side jobs says to this, beside the conversation; null if none can be asked. One at a time. */
  readonly consult: (instructions: string, text: string) => Promise<string | null>;
}

/** A file for the person, read once and sent exactly so. */
export interface OutgoingFile {
  readonly name: string;
  readonly mediaType: string;
  readonly bytes: Uint8Array;
  /** A word that goes with it. */
  readonly caption?: string;
}

export interface ToolImage {
  readonly mediaType: string;
  readonly bytes: Uint8Array;
}

/**
 * Puts a message into a session as if it had been written there: what a background process has to say. Once for each
 * `id`, over restarts too; the answer goes where the session's newest one went. A session that is gone is told nothing.
 */
export type TellSession = (note: {
  readonly sessionId: SessionId;
  readonly id: string;
  readonly text: string;
  readonly untrusted?: UntrustedSource;
}) => Promise<void>;

export type ToolOutcome =
  | {
      readonly kind: 'finished';
      readonly text: string;
      /** Pictures for the model. */
      readonly images?: readonly ToolImage[];
      /** Sent to where the turn came from, once, together with the result. */
      readonly files?: readonly OutgoingFile[];
      /** The text holds what a stranger wrote. */
      readonly untrusted?: UntrustedSource;
    }
  /** `text` tells the model what went wrong and what it could do instead. */
  | { readonly kind: 'failed'; readonly text: string; readonly untrusted?: UntrustedSource }
  /** A person must answer first; `answered` goes on from there. Nothing of this process is needed meanwhile. */
  | ({ readonly kind: 'ask' } & Question)
  /** Only from `attach`: what became of it can't be told. */
  | { readonly kind: 'unknown'; readonly text: string };

export type ParsedArguments<Arguments> =
  | { readonly ok: true; readonly value: Arguments }
  | { readonly ok: false; readonly problem: string };

export interface SettledQuestion {
  readonly asked: Question;
  /** Null if nobody answered in time. */
  readonly answer: string | null;
}

export interface Tool<Arguments = unknown> {
  readonly definition: ToolDefinition;
  /** The MCP server whose tool it is, for toolsets; not there for our own. */
  readonly server?: string;
  readonly effect: ToolEffect;
  readonly replay: ToolReplay;
  /** Checks the decoded JSON; never throws. */
  parse(input: unknown): ParsedArguments<Arguments>;
  run(input: Arguments, context: ToolContext): Promise<ToolOutcome>;
  /**
   * Takes up what an earlier process's `run` or `answered` of the same call began. There exactly if `replay` is `attach`.
   * `settled`: what was asked before, if anything was, and the answer.
   */
  attach?(input: Arguments, context: ToolContext, settled?: SettledQuestion): Promise<ToolOutcome>;
  /** Goes on after a question: `answer` is null if nobody answered in time. There for every tool that asks. */
  answered?(input: Arguments, answer: string | null, context: ToolContext, asked: Question): Promise<ToolOutcome>;
  /** Which other calls of the same answer it may run beside. By default `any` for what only reads, else `alone`. */
  sideBySide?(input: Arguments): SideBySide;
  /** Files and folders that a call is about, absolute or relative to the workspace, as far as its arguments tell. */
  worksOn?(input: Arguments): readonly string[];
}
