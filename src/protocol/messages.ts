/**
 * What a conversation is made of. A message is what a model is sent and what it answers; it is stored exactly so and
 * never rewritten. An entry is one fact in a session's append-only log: messages, and the few facts around them.
 */
import type { CallId, InboxId, ModelCallId, TurnId } from './ids.ts';

export interface TextPart {
  readonly kind: 'text';
  readonly text: string;
}

/** Bytes are kept by their hash, so that a replayed prompt carries the same ones. */
export interface StoredContent {
  readonly sha256: string;
  readonly bytes: number;
  readonly mediaType: string;
}

export interface ImagePart {
  readonly kind: 'image';
  readonly content: StoredContent;
}

export interface FilePart {
  readonly kind: 'file';
  readonly name: string;
  readonly content: StoredContent;
  /** Where tools find it: it is put there, in the workspace, before a model is told of it. */
  readonly path?: string;
}

export interface SentFile {
  readonly name: string;
  readonly content: StoredContent;
}

export interface ReasoningPart {
  readonly kind: 'reasoning';
  readonly text: string;
  /** What a provider wants back untouched: a signature, an encrypted block. */
  readonly opaque?: string;
  /** `PROVIDER/MODEL` that thought it: no other one may be sent it. */
  readonly origin?: string;
}

export interface ToolCallPart {
  readonly kind: 'tool-call';
  /** Ours, unique for ever; providers repeat theirs. */
  readonly callId: CallId;
  readonly providerCallId?: string;
  readonly name: string;
  /** The argument text as the model wrote it, valid JSON or not. */
  readonly arguments: string;
}

/** Where words come from that nobody who may use the agent has written: they may try to give it orders. */
export type UntrustedSource = 'web' | 'mcp' | 'webhook' | 'stranger';

export interface ToolResultPart {
  readonly kind: 'tool-result';
  readonly callId: CallId;
  readonly outcome: CallOutcome;
  readonly text: string;
  /** Pictures that the model sees with the text. */
  readonly images?: readonly StoredContent[];
  /** Files that the call sent to the person; the model sees the text only. */
  readonly files?: readonly SentFile[];
  readonly untrusted?: UntrustedSource;
  /** Files of the project whose words stand at the end of the text; each comes once in a conversation. */
  readonly projectFiles?: readonly string[];
  /** The call itself was wrong (no such tool, arguments that can't be read): nothing was run. */
  readonly mistake?: true;
}

/** `unknown`: it started, and whether it finished can't be told. `skipped`: it was never started. */
export type CallOutcome = 'finished' | 'failed' | 'unknown' | 'skipped';

export type Part = TextPart | ImagePart | FilePart | ReasoningPart | ToolCallPart | ToolResultPart;

export interface UserMessage {
  readonly role: 'user';
  /** None of these is part of what a model is sent. */
  readonly untrusted?: UntrustedSource;
  /** A schedule or another program wrote it: nobody waits for the answer. */
  readonly isUnattended?: true;
  /** The hashes of the pictures that it tells of, for a model that can't see them. */
  readonly describes?: readonly string[];
  /** Whoever asks waits for the answer to this and nothing else: it opens a turn of its own. */
  readonly hasOwnTurn?: true;
  readonly parts: readonly (TextPart | ImagePart | FilePart)[];
}

export interface AssistantMessage {
  readonly role: 'assistant';
  readonly parts: readonly (TextPart | ReasoningPart | ToolCallPart)[];
}

export interface ToolMessage {
  readonly role: 'tool';
  readonly parts: readonly [ToolResultPart];
}

export type Message = UserMessage | AssistantMessage | ToolMessage;

/** A tool as the model is told about it. */
export interface ToolDefinition {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** The tools of a prompt. */
export interface HeadTools {
  readonly tools: readonly ToolDefinition[];
  /** The toolsets that they are of, sorted; no part of what a model is sent. Missing in old logs: all tools. */
  readonly toolsets?: readonly string[];
}

/** The frozen start of every prompt of a session. The newest one in the log is in force. */
export interface Head extends HeadTools {
  readonly systemPrompt: string;
  /** What it was put together from, with an empty line between two. Missing in old logs. */
  readonly sections?: readonly SectionSize[];
}

export interface SectionSize {
  readonly name: string;
  readonly chars: number;
}

/** Why a session's prompt starts as it does; every reason but the first one costs the provider's cache once. */
export type HeadReason =
  | 'session-started'
  | 'model-changed'
  | 'toolset-changed'
  | 'system-prompt-changed'
  | 'registry-changed';

/** What a call wants to know before it goes on. */
export interface Question {
  readonly text: string;
  /** The answers to choose from; null if any text will do. */
  readonly choices: readonly string[] | null;
  /** From then on nobody has answered. */
  readonly deadline: number;
  /** An approval: only somebody who may approve can answer it. */
  readonly isApproval?: true;
  /** What exactly waits for the answer, for the tool that asked; nobody else reads it. */
  readonly plan?: string;
}

export interface OpenQuestion extends Omit<Question, 'text' | 'plan'> {
  readonly callId: CallId;
}

/** What a program may want to know of a notice. `cut-off`: the answer before it reached the longest output. */
export type NoticeCause = 'cut-off' | 'declined';

export interface DeliveredNotice {
  /** The same delivery is in the log once. */
  readonly id: string;
  /** Choices under the text. */
  readonly buttons: readonly { readonly label: string; readonly value: string }[];
}

/** How a turn ended. `parked`: it took the process down too often and waits for a person. */
export type TurnOutcome = 'answered' | 'stopped' | 'failed' | 'parked';

/** How a prompt from now on tells what came before; the log keeps it all. */
export interface CompressedPrompt {
  readonly why: 'threshold' | 'overflow' | 'person';
  /** The head that was in force. */
  readonly headSeq: number;
  /** Messages up to here are told by `summary`; 0: none are. */
  readonly toSeq: number;
  /** What is said before the summary: kept, so that a later version tells the same. */
  readonly preface: string;
  /** Empty exactly if `toSeq` is 0. */
  readonly summary: string;
  /** Who wrote the summary; `rules`: no model could. */
  readonly by: 'model' | 'rules';
  /** Of the messages up to `toSeq`, those that stay word for word behind the summary. */
  readonly keeps: readonly number[];
  /** Results of later calls that are told in one line. */
  readonly digests: readonly { readonly callId: CallId; readonly text: string }[];
  /** Estimates. */
  readonly tokensBefore: number;
  readonly tokensAfter: number;
}

/** Shortening a prompt, step by step. Every attempt ends as `done` or `declined`, or is found `begun` after a crash. */
export type CompressionStep =
  /** By a person with `/compress`, or because a provider found the prompt too long. */
  | {
      readonly kind: 'asked';
      readonly why: 'overflow' | 'person';
      /** What matters most, in the person's words; may be empty. */
      readonly topic: string;
      /** Where a person wants to be told what came of it. */
      readonly place: { readonly channel: string; readonly target: string } | null;
    }
  /** A model is about to be asked for the summary. */
  | { readonly kind: 'begun' }
  | ({ readonly kind: 'done' } & CompressedPrompt)
  /** It would win too little; `tokens` is what the prompt has. */
  | { readonly kind: 'declined'; readonly tokens: number };

export type EntryBody =
  | { readonly kind: 'head'; readonly reason: HeadReason; readonly head: Head }
  | { readonly kind: 'turn-opened' }
  /** What the conversation is called from now on, and who says so; `words`: those that it began with. Of no turn. */
  | { readonly kind: 'titled'; readonly title: string; readonly by: 'words' | 'model' | 'person' }
  /** `inboxId` is null for what the program itself has to tell the model. */
  | { readonly kind: 'message'; readonly message: UserMessage; readonly inboxId: InboxId | null }
  | {
      readonly kind: 'message';
      readonly message: AssistantMessage;
      readonly modelCallId: ModelCallId;
      /** What the prompt with this answer at its end has, as the provider counts; missing if it does not say. */
      readonly promptTokens?: number;
    }
  | { readonly kind: 'message'; readonly message: ToolMessage }
  /** Messages after `toSeq` and before this are no part of the prompt any more. */
  | { readonly kind: 'rewound'; readonly toSeq: number }
  /** Of no turn: it is about the prompt of all that follow. */
  | { readonly kind: 'compression'; readonly step: CompressionStep }
  /**
   * With a question, a call waits for a person: `text` is what is asked. With a delivery, it was sent to a front end that
   * reads the log: a command's answer, say.
   */
  | {
      readonly kind: 'notice';
      readonly text: string;
      readonly question?: OpenQuestion;
      readonly delivery?: DeliveredNotice;
      readonly cause?: NoticeCause;
    }
  | { readonly kind: 'turn-closed'; readonly outcome: TurnOutcome };

/** One fact of a session, as stored. `seq` counts from 1 without gaps within the session. */
export type Entry = EntryBody & {
  readonly seq: number;
  readonly at: number;
  readonly turnId: TurnId | null;
};

/** The text a person reads in a message: its text parts, joined. */
export function textOf(message: Message): string {
  return message.parts.map((part) => (part.kind === 'text' ? part.text : '')).join('');
}

export function toolCallsOf(message: AssistantMessage): ToolCallPart[] {
  return message.parts.filter((part) => part.kind === 'tool-call');
}
