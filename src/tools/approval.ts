/**
 * The contract of approvals. A tool that wants to leave the sandbox, send something out or change Talaria itself says
 * exactly what it is about to do; the gate lets it, refuses, or has a person asked. What was approved is run exactly so:
 * the plan is stored with the question and comes back with the answer, and a tool that finds the world changed since
 * (a script it was about to run, its folder) does not run it.
 *
 *   run:       gate.consider(plan, context) -> go: do it · refuse: a failed outcome · ask: return the question
 *   answered:  gate.settle(asked, answer, context) -> go with the frozen plan · refuse
 */
import type { SessionId } from '../protocol/ids.ts';
import type { Question, UntrustedSource } from '../protocol/messages.ts';

export type PlanKind =
  /** A command outside the sandbox, or with more rights in it than usual. */
  | 'command'
  /** A file outside the roots, or a protected one. */
  | 'file'
  /** Data leaves: a request, a form, a message to somebody else. */
  | 'send'
  /** A tool of another program's. */
  | 'mcp'
  /** Memory, skills, schedules, configuration. */
  | 'self';

export interface Plan {
  readonly kind: PlanKind;
  /** What a lasting permission would be about: equal subjects are the same permission. Never a pattern. */
  readonly subject: string;
  /** What will happen, whole, in the words of the one who does it; the gate escapes what can't be seen. */
  readonly shown: string;
  /** Why it asks, each a clause for people: "reaches github.com", "runs outside the sandbox". */
  readonly reasons: readonly string[];
  /** Where it runs, for people: the sandbox's level, or a folder. */
  readonly where: string;
  /** All that is needed to do exactly this, as JSON: argv, folder, environment, hashes of files. */
  readonly frozen: string;
  /** Allowing it for longer than once makes no sense or is too much. */
  readonly onceOnly?: true;
  /** What a lasting permission would allow, for people: needed wherever that is more than what is shown. */
  readonly lasting?: string;
  /** It could send data out or change Talaria itself, though that is not what it is about. */
  readonly canSend?: true;
}

/** Of the call's context, what the gate looks at. */
export interface GateContext {
  readonly sessionId: SessionId;
  readonly untrusted: UntrustedSource | null;
  readonly isUnattended: boolean;
  /** What a model for side jobs says to this; null if none can be asked. */
  readonly consult?: (instructions: string, text: string) => Promise<string | null>;
}

export type GateAnswer =
  | { readonly kind: 'go' }
  /** `text` tells the model why, and what it could do instead. */
  | { readonly kind: 'refuse'; readonly text: string }
  | { readonly kind: 'ask'; readonly question: Question };

export interface Gate {
  /** Never throws but for a store that fails. Does nothing by itself. */
  consider(plan: Plan, context: GateContext): Promise<GateAnswer>;
  /** What the person said about it; a lasting permission is stored before this resolves. `frozen` is the plan's. */
  settle(
    asked: Question,
    answer: string | null,
    context: GateContext,
  ): Promise<{ readonly kind: 'go'; readonly frozen: string } | { readonly kind: 'refuse'; readonly text: string }>;
}

/** A permission that lasts: for one session, or (null) for all. */
export interface Grant {
  readonly sessionId: SessionId | null;
  readonly kind: PlanKind;
  readonly subject: string;
  /** As it was shown, for the list of what was allowed. */
  readonly shown: string;
  readonly grantedAt: number;
}

/** Where a command would run and what is there, for whoever judges it. All paths are absolute. */
export interface CommandPlace {
  /** A `SandboxLevel`. */
  readonly level: 'bubblewrap' | 'namespaces' | 'landlock' | 'docker' | 'ssh' | 'none';
  /** What the sandbox does not keep apart. */
  readonly gaps: readonly string[];
  readonly cwd: string;
  readonly workspace: string;
  /** Further folders that commands may change. */
  readonly writable: readonly string[];
  /** What `~` is to the command. */
  readonly home: string;
  readonly talariaHome: string;
  /** The file system does not tell upper from lower case. */
  readonly isCaseBlind: boolean;
  /** Processes that no command may end. */
  readonly ownPids?: readonly number[];
}

export type Judgement =
  /** `notes` says what will not work in the sandbox, for whoever wonders afterwards. */
  | { readonly kind: 'plain'; readonly notes: readonly string[] }
  | { readonly kind: 'asks'; readonly reasons: readonly string[] }
  /** In every mode, whoever says yes. */
  | { readonly kind: 'refused'; readonly reason: string };

/** For tools that run commands. Reads, runs nothing, never throws. */
export interface CommandJudge {
  judge(command: string, place: CommandPlace): Promise<Judgement>;
  /** Files that it would run, by absolute path: what is in them belongs to what is approved. */
  filesOf(command: string, place: CommandPlace): Promise<readonly string[]>;
}
