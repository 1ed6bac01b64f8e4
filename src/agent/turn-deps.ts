/** What one run of the turn loop works with. Everything a step needs comes through here. */
import type { Clock } from '../lib/clock.ts';
import type { IdSource } from '../lib/ids.ts';
import type { Log } from '../lib/log.ts';
import type { RandomSource } from '../lib/random.ts';
import type { ModelRequest, Runtime } from '../models/model.ts';
import type { LiveEvent } from '../protocol/events.ts';
import type { CallId, SessionId, TurnId } from '../protocol/ids.ts';
import type { Head, HeadTools } from '../protocol/messages.ts';
import type { Effort } from '../protocol/usage.ts';
import type { SessionWrite, Store, StoreReader } from '../store/store.ts';
import type { Tool } from '../tools/tool.ts';
import type { TurnLimits } from './decide.ts';
import type { FolderNote } from './project-notes.ts';
import type { RuntimeChain } from './runtime-chain.ts';
import type { RuntimeClients } from './runtime-clients.ts';
import type { TurnModels } from './turn-models.ts';

export interface CompressionChoice {
  /** The model that writes summaries; null: the one that leads. */
  readonly summariser: Runtime | null;
  /** How much of the threshold the newest messages may take that stay as they are, and how many they are at most. */
  readonly targetRatio: number;
  readonly protectLastN: number;
  /** Takes known secrets out of a text. */
  readonly redact?: (text: string) => string;
}

/** What a session's turns are run by; built from the configuration, kept between turns. */
export interface Agent {
  /** The primary runtime and its fallbacks, and which of them is in use. */
  readonly chain: RuntimeChain;
  readonly clients: RuntimeClients;
  /** The model that names sessions; null if none was chosen for it. */
  readonly titler: Runtime | null;
  /** The model that tools may consult; null if there is none. */
  readonly judge: Runtime | null;
  /** The model that looks at pictures for those that can't see; left out or null: nobody does. */
  readonly seer?: Runtime | null;
  /** How prompts that grow too long are shortened; left out: by the model that leads, as by default. */
  readonly compression?: CompressionChoice;
  readonly tools: { get(name: string): Tool | undefined };
  /** What prompts say of `tools`. A session whose frozen head says something else gets another head at its next turn. */
  readonly headTools: HeadTools;
  /** The frozen start of a new session's prompt. Asked for once per session. */
  readonly buildHead: () => Promise<Head>;
  /** Where the session's tools work. Absolute. */
  readonly workspace: string;
  /** Where the session's calls keep files that outlive the process. Absolute. */
  readonly spoolFolder: (sessionId: SessionId) => string;
  /** What a folder of the workspace, given by its path in it, says to agents; null if nothing. Missing: none does. */
  readonly folderNote?: (folder: string) => Promise<FolderNote | null>;
  /** Puts a file that somebody sent into the workspace, where its message says, unless it is there. Missing: none is. */
  readonly placeFile?: (path: string, load: () => Promise<Uint8Array | null>) => Promise<void>;
  /** Keeps a result that is too long for the model; returns the path under which a tool can read it. */
  readonly keepResult: (sessionId: SessionId, callId: CallId, text: string) => Promise<string>;
}

/** What may change from turn to turn without another agent. */
export interface TurnSettings {
  readonly limits: TurnLimits;
  readonly effort: Effort | null;
  readonly cachePace: ModelRequest['cachePace'];
  /** How often a failed model call is tried again on the same runtime. */
  readonly modelRetriesMax: number;
  /** How long one turn may go on trying while models fail. */
  readonly troubleMaxMs: number;
  /** Dollars; 0 is no limit. */
  readonly budget: { readonly sessionUsd: number; readonly dayUsd: number };
}

export interface TurnDeps {
  readonly agent: Agent;
  readonly settings: TurnSettings;
  /** The models of the turn under way. */
  readonly models: TurnModels;
  readonly read: StoreReader;
  /** All of these writes or none, under the session's lease. Throws a `StoreError`. */
  readonly commit: (writes: readonly SessionWrite[]) => Promise<void>;
  /** A word to the people, stored and shown at once. */
  readonly tell: (turnId: TurnId, text: string) => Promise<void>;
  readonly restKey: Store['restKey'];
  readonly wakeKey: Store['wakeKey'];
  /** Shows work in progress. Never throws. */
  readonly sink: (event: LiveEvent) => void;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly random: RandomSource;
  readonly log: Log;
}

/** Why an action was cut short. After a stop, what was said so far is kept; on leaving, the action is done anew later. */
export class ActionCut extends Error {
  override readonly name = 'ActionCut';
  readonly why: 'stop' | 'leave';

  constructor(why: 'stop' | 'leave') {
    super(why === 'stop' ? 'stopped by the user' : 'the program is leaving');
    this.why = why;
  }
}
