/**
 * What tools hold for a session between calls: a shell, processes, a browser. It belongs to the session id, outlives the
 * agent and, where it can, the process; it ends with the session or after hours without use.
 */
import type { SessionId } from '../protocol/ids.ts';

export interface HeldThing {
  readonly sessionId: SessionId;
  readonly kind: 'shell' | 'process' | 'browser' | 'server';
  /** For people: the command, the page. One line. */
  readonly what: string;
  readonly startedAt: number;
  /** When a call last had to do with it. */
  readonly usedAt: number;
  /** Something is going on in it: a person is told when it is ended. A shell that waits for the next command is not. */
  readonly isBusy: boolean;
}

export interface Holding {
  /** For the log. */
  readonly name: string;
  /** All there is now, of every session, also what an earlier process began. */
  list(): Promise<readonly HeldThing[]>;
  /** Resolves once the session has none of it. Idempotent. */
  end(sessionId: SessionId): Promise<void>;
}
