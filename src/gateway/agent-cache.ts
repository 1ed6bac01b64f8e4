/**
 * Live agents, one per session, kept between its turns while their signature is what the configuration asks for. An
 * agent in a turn is never closed. Past the cap the least recently used idle one is released: nothing is lost with it
 * but warmth, since everything that matters is stored.
 */
import type { Agent } from '../agent/turn-deps.ts';
import type { SessionId } from '../protocol/ids.ts';

export interface AgentCacheCounts {
  readonly size: number;
  readonly active: number;
  readonly hits: number;
  readonly misses: number;
  readonly evictions: number;
}

interface Cached {
  readonly agent: Agent;
  readonly signature: string;
  users: number;
}

export class AgentCache {
  readonly #cap: () => number;
  /** In the order of use, the newest last. */
  readonly #cached = new Map<SessionId, Cached>();
  readonly #counts = { hits: 0, misses: 0, evictions: 0 };

  /** `cap` is asked each time, because it may change while running. */
  constructor(cap: () => number) {
    this.#cap = cap;
  }

  /** The session's agent with this signature, live or built now. It is in use until it is given back. */
  borrow(sessionId: SessionId, signature: string, build: () => Agent): { agent: Agent; giveBack(): void } {
    let cached = this.#cached.get(sessionId);
    if (cached?.signature === signature) this.#counts.hits += 1;
    else {
      this.#counts.misses += 1;
      this.#drop(sessionId);
      cached = { agent: build(), signature, users: 0 };
    }
    const lent = cached;
    lent.users += 1;
    // Taken out and put in again, it is the newest.
    this.#cached.delete(sessionId);
    this.#cached.set(sessionId, lent);
    this.#evict();
    let isBack = false;
    const giveBack = () => {
      if (isBack) return;
      isBack = true;
      lent.users -= 1;
      if (this.#cached.get(sessionId) !== lent && lent.users === 0) release(lent);
      this.#evict();
    };
    return { agent: lent.agent, giveBack };
  }

  counts(): AgentCacheCounts {
    const active = [...this.#cached.values()].filter(({ users }) => users > 0).length;
    return { size: this.#cached.size, active, ...this.#counts };
  }

  /** Releases every agent; one in a turn as soon as it is given back. */
  close(): void {
    for (const sessionId of this.#cached.keys()) this.#drop(sessionId);
  }

  #evict(): void {
    for (const [sessionId, { users }] of [...this.#cached].slice(0, Math.max(0, this.#cached.size - this.#cap()))) {
      if (users > 0) continue;
      this.#drop(sessionId);
      this.#counts.evictions += 1;
    }
  }

  #drop(sessionId: SessionId): void {
    const cached = this.#cached.get(sessionId);
    this.#cached.delete(sessionId);
    if (cached?.users === 0) release(cached);
  }
}

function release({ agent }: Cached): void {
  void agent.clients.close();
}
