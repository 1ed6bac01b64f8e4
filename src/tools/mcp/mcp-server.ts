/** The words that the parts of this folder share: a configured server, a tool as it describes it, and what became of it. */

/** A server as it is configured. */
export interface McpServerSettings {
  readonly command: string | null;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly url: string | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly enabled: boolean;
  /** By the server's own names; null: all. */
  readonly include: readonly string[] | null;
  readonly exclude: readonly string[];
  readonly timeout_s: number;
  readonly auth: 'none' | 'oauth';
  readonly sandbox: boolean;
  readonly folders: readonly string[];
  /** Hosts; "*" is every one. */
  readonly network: readonly string[];
}

/** Where a server runs, and whether what it is told can leave from there. */
export interface ServerPlace {
  /** For people. */
  readonly words: string;
  readonly hasWayOut: boolean;
}

/** What a server says about what a tool does. Hints: a server can lie. */
export interface ToolHints {
  readonly readOnlyHint?: boolean | undefined;
  readonly destructiveHint?: boolean | undefined;
  readonly idempotentHint?: boolean | undefined;
  readonly openWorldHint?: boolean | undefined;
}

/** A tool as its server describes it. */
export interface SeenTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
  readonly hints: ToolHints;
  /** Of all of these, whole. */
  readonly hash: string;
}

export type McpState = 'off' | 'waiting' | 'connecting' | 'ready' | 'failed' | 'sign-in-needed';

export interface McpServerState {
  readonly name: string;
  readonly state: McpState;
  /** How many of its tools the agent has, whether it runs or not. */
  readonly tools: number;
  /** For people: what is wrong and what to do. */
  readonly problem: string | null;
}

export type McpReason = 'unreachable' | 'sign-in-needed' | 'timeout' | 'refused' | 'closed';

/** An operational failure with a server. The message is one sentence of ours; what the server itself said is in `said`. */
export class McpError extends Error {
  override readonly name = 'McpError';
  readonly reason: McpReason;
  /** In the server's words: for people, never for a model without the mark of a stranger's text. */
  readonly said: string;

  constructor(reason: McpReason, message: string, options: ErrorOptions & { readonly said?: string } = {}) {
    super(message, options);
    this.reason = reason;
    this.said = options.said ?? '';
  }
}

/** It greets, and then says nothing of its tools, or something else. */
export function notListed(error: unknown): McpError {
  if (error instanceof McpError) return error;
  const why = { cause: error, said: error instanceof Error ? error.message : String(error) };
  return new McpError('unreachable', 'It does not list its tools in the form that the protocol asks for.', why);
}
