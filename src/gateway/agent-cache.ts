/**
 * Live agents, one per session, kept between its turns while their signature is what the configuration asks for. With one
 * that is released nothing is lost but warmth, since everything that matters is stored. So there are bounds: how many
 * there are, for how long one is idle, and the memory of the process. An agent in a turn is never released, whatever
 * becomes of its place here: being in use, and being released, belong to the agent and not to the session. A session
 * whose agent is still being built has no place yet. What a session's tools hold is left to `hard-close.ts`.
 */
import type { Agent } from '../agent/turn-deps.ts';
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import type { SessionId } from '../protocol/ids.ts';

/** While there are agents, they are looked at this often; more often where they may be idle for a short time only. */
const lookEveryMs = 60_000;
const lookAgainMs = 1_000;
const looksPerTtl = 4;

export interface AgentCacheDeps {
  /** How many are kept. Asked each time, like the others, because it may change while running. */
  readonly cap: () => number;
  readonly idleTtlMs: () => number;
  readonly isMemoryShort: () => boolean;
  readonly clock: Clock;
  readonly log: Log;
}

export interface AgentCacheCounts {
  readonly size: number;
  readonly active: number;
  readonly hits: number;
  readonly misses: number;
  /** Released to make room, or memory. */
  readonly evictions: number;
  /** Released because they were idle for too long. */
  readonly sweeps: number;
  /** Released for whatever reason. */
  readonly releases: number;
}

export interface LentAgent {
  readonly agent: Agent;
  /**
   * Idempotent. `activeAt` is when the agent last did something, by default now; null if it did nothing, and then it is as
   * old as it was before.
   */
  giveBack(activeAt?: number | null): void;
}

interface Entry {
  readonly signature: string;
  readonly built: Promise<Agent>;
  /** Turns that use it, or wait for it to be built. */
  users: number;
  /** Null: not known. */
  activeAt: number | null;
}

export class AgentCache {
  readonly #deps: AgentCacheDeps;
  /** In the order of use, the newest last. */
  readonly #cached = new Map<SessionId, Entry>();
  readonly #building = new Map<SessionId, Entry>();
  readonly #counts = { hits: 0, misses: 0, evictions: 0, sweeps: 0, releases: 0 };
  #cancelLook: (() => void) | null = null;
  #isClosed = false;

  constructor(deps: AgentCacheDeps) {
    this.#deps = deps;
  }

  /** The session's agent with this signature, live or built now. It is in use until it is given back. */
  async borrow(sessionId: SessionId, signature: string, build: () => Agent | Promise<Agent>): Promise<LentAgent> {
    const known = this.#cached.get(sessionId) ?? this.#building.get(sessionId);
    const isHit = known?.signature === signature;
    this.#counts[isHit ? 'hits' : 'misses'] += 1;
    const entry = isHit ? known : this.#build(sessionId, signature, build);
    // Nobody may release it from here on, so this comes before anything that waits.
    entry.users += 1;
    if (this.#cached.get(sessionId) === entry) this.#put(sessionId, entry);
    const agent = await entry.built;
    let isBack = false;
    const giveBack = (activeAt: number | null = this.#deps.clock.now()) => {
      if (isBack) return;
      isBack = true;
      entry.users -= 1;
      entry.activeAt = activeAt ?? entry.activeAt;
      const isKept = this.#cached.get(sessionId) === entry;
      if (!isKept && entry.users === 0) this.#release(entry);
      this.#evict();
    };
    return { agent, giveBack };
  }

  /** The session has no agent any more; one in a turn is released when it is given back. */
  drop(sessionId: SessionId): void {
    this.#building.delete(sessionId);
    const entry = this.#cached.get(sessionId);
    this.#cached.delete(sessionId);
    if (entry?.users === 0) this.#release(entry);
  }

  /** Releases those that have been idle for longer than they may; says how many. */
  sweep(): number {
    const { clock, idleTtlMs } = this.#deps;
    const staleBefore = clock.now() - idleTtlMs();
    const stale = this.#idle().filter(([, { activeAt }]) => activeAt !== null && activeAt < staleBefore);
    for (const [sessionId] of stale) this.drop(sessionId);
    this.#counts.sweeps += stale.length;
    return stale.length;
  }

  /**
   * Where memory is short, releases the half of the idle agents that was not used for longest; says how many. What that
   * frees shows only later, so that there is no other way to tell how many are enough.
   */
  relieve(): number {
    if (!this.#deps.isMemoryShort()) return 0;
    const idle = this.#idle();
    const released = idle.slice(0, Math.ceil(idle.length / 2));
    for (const [sessionId] of released) this.drop(sessionId);
    this.#counts.evictions += released.length;
    if (released.length > 0) this.#deps.log.warn('memory is short: idle agents released', { count: released.length });
    return released.length;
  }

  counts(): AgentCacheCounts {
    return { size: this.#cached.size, active: this.#cached.size - this.#idle().length, ...this.#counts };
  }

  /** Releases every agent; one in a turn as soon as it is given back. */
  close(): void {
    this.#isClosed = true;
    this.#cancelLook?.();
    for (const sessionId of [...this.#cached.keys(), ...this.#building.keys()]) this.drop(sessionId);
  }

  #build(sessionId: SessionId, signature: string, build: () => Agent | Promise<Agent>): Entry {
    this.drop(sessionId);
    const entry: Entry = { signature, built: (async () => build())(), users: 0, activeAt: null };
    if (!this.#isClosed) this.#building.set(sessionId, entry);
    const isWanted = () => this.#building.get(sessionId) === entry && this.#building.delete(sessionId);
    entry.built.then(
      () => isWanted() && this.#put(sessionId, entry),
      // Whoever borrows it hears why.
      () => isWanted(),
    );
    return entry;
  }

  /** Taken out and put in again, it is the newest. */
  #put(sessionId: SessionId, entry: Entry): void {
    this.#cached.delete(sessionId);
    this.#cached.set(sessionId, entry);
    this.#evict();
    this.#lookLater(lookEveryMs);
  }

  /** An agent in a turn keeps its place, and nobody else has to go for it. */
  #evict(): void {
    const { cap, log } = this.#deps;
    const surplus = this.#cached.entries().take(Math.max(0, this.#cached.size - cap()));
    for (const [sessionId, { users }] of surplus.toArray()) {
      if (users > 0) continue;
      this.drop(sessionId);
      this.#counts.evictions += 1;
    }
    const { size } = this.#cached;
    if (size > cap()) log.warn('there are more agents than the cap, because some are mid-turn', { size, cap: cap() });
  }

  /** One timer, and none while there is nothing to look at. */
  #lookLater(delayMs: number): void {
    if (this.#isClosed || this.#cached.size === 0) return;
    const { clock, idleTtlMs } = this.#deps;
    const shortest = Math.max(lookAgainMs, idleTtlMs() / looksPerTtl);
    this.#cancelLook ??= clock.setTimer(Math.min(delayMs, shortest), () => {
      this.#cancelLook = null;
      this.sweep();
      this.#lookLater(this.relieve() > 0 ? lookAgainMs : lookEveryMs);
    });
  }

  #idle(): [SessionId, Entry][] {
    return [...this.#cached].filter(([, { users }]) => users === 0);
  }

  #release(entry: Entry): void {
    this.#counts.releases += 1;
    void entry.built.then((agent) => agent.clients.close());
  }
}
