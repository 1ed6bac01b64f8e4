/**
 * Shows sessions to whoever looks: passes on events and remembers what is going on, so that a newcomer in the middle
 * of a turn sees it. Holds nothing that matters; a slow looker is let go and comes back through the stored log.
 */
import { BoundedQueue } from '../lib/bounded-queue.ts';
import { applyLive, type LiveTurn, type SessionEvent } from '../protocol/events.ts';
import type { SessionId } from '../protocol/ids.ts';

/** How many events may wait for one looker before it is let go. */
const waitingEventsMax = 4_096;

export interface Subscription {
  /** Ends when the subscription is closed, or when the looker was too slow. */
  readonly events: BoundedQueue<SessionEvent>;
  readonly close: () => void;
}

export interface LiveHub {
  publish(sessionId: SessionId, event: SessionEvent): void;
  /** What is going on at this moment; events published from now on come through a subscription made now. */
  current(sessionId: SessionId): LiveTurn | null;
  subscribe(sessionId: SessionId): Subscription;
  /** Lets everybody go. */
  close(): void;
}

export function createLiveHub(): LiveHub {
  const turns = new Map<SessionId, LiveTurn>();
  const lookers = new Map<SessionId, Set<BoundedQueue<SessionEvent>>>();

  return {
    publish(sessionId, event) {
      const turn = applyLive(turns.get(sessionId) ?? null, event);
      if (turn === null) turns.delete(sessionId);
      else turns.set(sessionId, turn);
      for (const queue of lookers.get(sessionId) ?? []) if (!queue.offer(event)) queue.close();
    },
    current: (sessionId) => turns.get(sessionId) ?? null,
    subscribe(sessionId) {
      const queue = new BoundedQueue<SessionEvent>(waitingEventsMax);
      const queues = lookers.get(sessionId) ?? new Set();
      lookers.set(sessionId, queues.add(queue));
      return {
        events: queue,
        close() {
          queue.close();
          queues.delete(queue);
          if (queues.size === 0) lookers.delete(sessionId);
        },
      };
    },
    close() {
      for (const queues of lookers.values()) for (const queue of queues) queue.close();
    },
  };
}
