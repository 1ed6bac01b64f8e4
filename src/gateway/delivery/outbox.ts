/**
 * Works off the outbox: one delivery per session at a time and in order, sessions side by side. That an attempt begins
 * is stored before the channel is asked. How one delivery is sent is in `deliver.ts`.
 */
import type { NodeId } from '../../protocol/ids.ts';
import type { OutboxRecord } from '../../store/store.ts';
import { deliver, type DeliverDeps } from './deliver.ts';

const underWayMax = 64;
/** Between looks for deliveries whose time has come. */
const lookEveryMs = 5_000;

export interface OutboxDeps extends DeliverDeps {
  readonly owner: NodeId;
}

export interface Outbox {
  /** There may be something to send. */
  poke(): void;
  /** Sends no more; resolves when what is under way has been settled. */
  close(): Promise<void>;
}

export function createOutbox(deps: OutboxDeps): Outbox {
  const closing = new AbortController();
  // What belongs to a channel that is not there now waits until it is.
  const names = [...deps.channels.keys()];
  const underWay = new Set<Promise<void>>();
  let claiming: Promise<void> | null = null;
  let pokedAgain = false;
  let cancelTimer: (() => void) | null = null;

  const begin = (record: OutboxRecord) => {
    const delivering = deliver(deps, record, closing.signal)
      .catch((error: unknown) => deps.log.error('delivery left unsettled', { outboxId: record.id, error }))
      .finally(() => {
        underWay.delete(delivering);
        // There is room for one more, and the next of the same session may go.
        poke();
      });
    underWay.add(delivering);
  };

  const claim = async () => {
    while (pokedAgain && underWay.size < underWayMax && !closing.signal.aborted) {
      pokedAgain = false;
      const claimed = await deps.store.claimDeliveries(deps.owner, underWayMax - underWay.size, names);
      for (const record of claimed) begin(record);
    }
  };

  const poke = () => {
    pokedAgain = true;
    if (claiming !== null || closing.signal.aborted) return;
    cancelTimer?.();
    claiming = claim()
      .catch((error: unknown) => deps.log.error('outbox can not be worked off', { error }))
      .finally(() => {
        claiming = null;
        if (closing.signal.aborted) return;
        // A poke that came after the last look and before this moment must not wait for the timer.
        if (pokedAgain && underWay.size < underWayMax) poke();
        else cancelTimer = deps.clock.setTimer(lookEveryMs, poke);
      });
  };

  return {
    poke,
    async close() {
      closing.abort(new Error('the program is leaving'));
      cancelTimer?.();
      await claiming;
      await Promise.all(underWay);
    },
  };
}
