/**
 * Sends what the outbox holds, one delivery per session at a time and in order. That an attempt begins is stored
 * before the channel is asked, so that after a crash the next attempt knows it may repeat the one before.
 */
import type { Channel, DeliveryOutcome } from '../../channels/channel.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import type { NodeId } from '../../protocol/ids.ts';
import type { DeliverySettlement, OutboxRecord, Store } from '../../store/store.ts';

const claimedAtOnceMax = 64;
/** Between looks for deliveries whose time has come. */
const lookEveryMs = 5_000;

export interface OutboxDeps {
  readonly store: Store;
  readonly owner: NodeId;
  readonly clock: Clock;
  readonly log: Log;
  readonly channels: ReadonlyMap<string, Channel>;
}

export interface Outbox {
  /** There may be something to send. */
  poke(): void;
  /** Sends no more; resolves when what is under way has been settled. */
  close(): Promise<void>;
}

export function createOutbox(deps: OutboxDeps): Outbox {
  const closing = new AbortController();
  let working: Promise<void> | null = null;
  let pokedAgain = false;
  let cancelTimer: (() => void) | null = null;

  const work = async () => {
    do {
      pokedAgain = false;
      const claimed = await deps.store.claimDeliveries(deps.owner, claimedAtOnceMax);
      await Promise.all(claimed.map((record) => deliver(deps, record, closing.signal)));
      // Settling one may free the next of the same session.
      if (claimed.length > 0) pokedAgain = true;
    } while (pokedAgain && !closing.signal.aborted);
  };

  const poke = () => {
    pokedAgain = true;
    if (working !== null || closing.signal.aborted) return;
    cancelTimer?.();
    working = work()
      .catch((error: unknown) => deps.log.error('outbox can not be worked off', { error }))
      .finally(() => {
        working = null;
        if (!closing.signal.aborted) cancelTimer = deps.clock.setTimer(lookEveryMs, poke);
      });
  };

  return {
    poke,
    async close() {
      closing.abort(new Error('the program is leaving'));
      cancelTimer?.();
      await working;
    },
  };
}

async function deliver(deps: OutboxDeps, record: OutboxRecord, signal: AbortSignal): Promise<void> {
  const channel = deps.channels.get(record.channel);
  const outcome: DeliveryOutcome =
    channel === undefined
      ? { kind: 'failed', error: `no channel named ${record.channel} is configured` }
      : await channel.deliver({ ...record, maybeRepeated: record.attempts > 1 }, signal);
  if (outcome.kind !== 'sent') deps.log.warn('delivery not sent', { outboxId: record.id, outcome });
  await deps.store.settleDelivery(record.id, settlementOf(outcome, deps.clock.now()));
}

function settlementOf(outcome: DeliveryOutcome, now: number): DeliverySettlement {
  return outcome.kind === 'retry' ? { kind: 'retry', notBefore: now + outcome.afterMs, error: outcome.error } : outcome;
}
