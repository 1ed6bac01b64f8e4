/**
 * The end of sessions that a stateless request of the HTTP API began: nobody can name them, so nobody would ever delete
 * them. They are kept for a while, because a repeated request gets its answer from them and a response can be gone on
 * with by its id; then they go, the oldest first. What they used stays in the sums.
 */
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import type { SessionId, SessionKey } from '../protocol/ids.ts';
import type { SessionRecord, StoreReader } from '../store/store.ts';

/** After its last activity. */
export const statelessKeptMs = 72 * 3_600_000;
/** More than these, and the oldest go although their time has not come. */
export const statelessKeptMax = 2_000;
/** So long a repeated request gets its answer, however many there are. */
export const statelessReplayMs = 10 * 60_000;
const firstTidyMs = 60_000;
const tidyEveryMs = 3_600_000;
/** So many new ones, and it is time to look again. */
const newOnesMax = 200;
const sessionsPerRead = 500;

const keyStart = 'api:once:';

export function statelessKey(user: string, id: SessionId): SessionKey {
  return `${keyStart}${encodeURIComponent(user)}:${id}`;
}

export function isStateless(key: SessionKey): boolean {
  return key.startsWith(keyStart);
}

export interface StatelessSessionsDeps {
  readonly read: Pick<StoreReader, 'sessions'>;
  readonly clock: Clock;
  readonly log: Log;
  /** Deletes a session and what its tools hold. */
  readonly remove: (id: SessionId) => Promise<unknown>;
}

export class StatelessSessions {
  readonly #deps: StatelessSessionsDeps;
  #begun = 0;
  #underWay: Promise<void> | null = null;
  #cancel: (() => void) | null = null;
  #isClosed = false;

  constructor(deps: StatelessSessionsDeps) {
    this.#deps = deps;
  }

  start(): void {
    this.#lookAfter(firstTidyMs);
  }

  /** One more was begun. */
  noteBegun(): void {
    this.#begun += 1;
    if (this.#begun >= newOnesMax) void this.tidy();
  }

  /** Never throws: what can't be deleted now is found again. */
  tidy(): Promise<void> {
    this.#begun = 0;
    this.#underWay ??= this.#tidy()
      .catch((error: unknown) => this.#deps.log.warn('sessions of stateless requests not tidied', { error }))
      .finally(() => (this.#underWay = null));
    return this.#underWay;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancel?.();
    await this.#underWay;
  }

  #lookAfter(delayMs: number): void {
    this.#cancel = this.#deps.clock.setTimer(delayMs, () => {
      void this.tidy();
      this.#lookAfter(tidyEveryMs);
    });
  }

  async #tidy(): Promise<void> {
    const now = this.#deps.clock.now();
    const found = await this.#stateless();
    const isOver = ({ turn, updatedAt }: SessionRecord, index: number) =>
      turn !== 'open' &&
      updatedAt <= now - statelessReplayMs &&
      (index >= statelessKeptMax || updatedAt <= now - statelessKeptMs);
    for (const { id } of found.filter(isOver)) {
      if (this.#isClosed) return;
      await this.#deps.remove(id);
    }
  }

  /** Newest activity first. */
  async #stateless(): Promise<SessionRecord[]> {
    const found: SessionRecord[] = [];
    for (let before: number | undefined; !this.#isClosed;) {
      const page = { limit: sessionsPerRead, ...(before === undefined ? {} : { before }) };
      const sessions = await this.#deps.read.sessions(page);
      found.push(...sessions.filter(({ key }) => isStateless(key)));
      if (sessions.length < sessionsPerRead) break;
      before = sessions.at(-1)?.updatedAt;
    }
    return found;
  }
}
