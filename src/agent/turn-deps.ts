/** What one run of the turn loop works with. Everything a step needs comes through here. */
import type { Clock } from '../lib/clock.ts';
import type { IdSource } from '../lib/ids.ts';
import type { Log } from '../lib/log.ts';
import type { RandomSource } from '../lib/random.ts';
import type { Model } from '../models/model.ts';
import type { LiveEvent } from '../protocol/events.ts';
import type { CallId, SessionId } from '../protocol/ids.ts';
import type { Head } from '../protocol/messages.ts';
import type { SessionWrite, StoreReader } from '../store/store.ts';
import type { Tool } from '../tools/tool.ts';
import type { TurnLimits } from './decide.ts';

/** What an agent is made of for one session; built from the configuration, reused between turns. */
export interface Agent {
  readonly model: Model;
  readonly tools: { get(name: string): Tool | undefined };
  readonly limits: TurnLimits;
  /** How often a failed model call is tried again before the turn ends. */
  readonly modelRetriesMax: number;
  /** The frozen start of a new session's prompt. Asked for once per session. */
  readonly buildHead: () => Promise<Head>;
  /** Where the session's tools work. Absolute. */
  readonly workspace: string;
  /** Where the session's calls keep files that outlive the process. Absolute. */
  readonly spoolFolder: (sessionId: SessionId) => string;
  /** Keeps a result that is too long for the model; returns the path under which a tool can read it. */
  readonly keepResult: (sessionId: SessionId, callId: CallId, text: string) => Promise<string>;
}

export interface TurnDeps {
  readonly agent: Agent;
  readonly read: StoreReader;
  /** All of these writes or none, under the session's lease. Throws a `StoreError`. */
  readonly commit: (writes: readonly SessionWrite[]) => Promise<void>;
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
