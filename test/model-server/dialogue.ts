/**
 * A conversation and its answer without the dialect that they came in: what the script reads and writes. Results stand
 * after the answer that asked for them, whatever the protocol calls the message they came in.
 */

export interface AskedCall {
  readonly name: string;
  /** As the model writes them, valid JSON or not. */
  readonly arguments: string;
  /** The provider's own id; without it one is made from the request. */
  readonly id?: string;
}

export type Utterance =
  | { readonly role: 'user'; readonly text: string }
  | { readonly role: 'assistant'; readonly text: string; readonly calls: readonly AskedCall[] }
  | { readonly role: 'result'; readonly callId: string; readonly text: string };

export interface Dialogue {
  readonly model: string;
  readonly toolNames: ReadonlySet<string>;
  readonly utterances: readonly Utterance[];
  /** Whether the request asks the model to think: `no`: it may not; `may`: if the words ask for it. */
  readonly thinking: 'no' | 'may' | 'yes';
}

export type Stop = 'answer' | 'tool-calls' | 'length' | 'refused';

/** What the model says. Everything has a default: an empty reply is an empty answer. */
export interface Reply {
  readonly reasoning?: string;
  readonly text?: string;
  readonly calls?: readonly AskedCall[];
  readonly stop?: Stop;
  /** Between two pieces of the stream. */
  readonly paceMs?: number;
  /** How long a piece of text is. */
  readonly pieceChars?: number;
  /** Instead of what was counted. */
  readonly usage?: Partial<TokenFigures>;
}

export interface TokenFigures {
  /** Everything that was read, cached or not. */
  readonly input: number;
  readonly cached: number;
  readonly written5m: number;
  readonly written1h: number;
  /** Everything that was written, reasoning included. */
  readonly output: number;
  readonly reasoning: number;
}

export function stopOf(reply: Reply): Stop {
  return reply.stop ?? ((reply.calls ?? []).length > 0 ? 'tool-calls' : 'answer');
}

/** Whether the newest thing in the conversation is a tool's result. */
export function followsResults({ utterances }: Dialogue): boolean {
  return utterances.at(-1)?.role === 'result';
}
