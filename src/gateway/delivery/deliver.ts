/**
 * Sends one delivery, in as many parts as its channel needs, beginning with the first that has not arrived. Each part
 * is on record as soon as it has. A part whose earlier attempt may have arrived goes out again all the same: where the
 * platform can't tell that it is the same one, it says so in front.
 */
import type { Channel, ChannelLimits, DeliveryOutcome } from '../../channels/channel.ts';
import { sleep, type Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import { StoreError, type DeliverySettlement, type OutboxRecord, type Store } from '../../store/store.ts';
import { splitText } from './split-text.ts';

export const repetitionMark = '(possibly repeated) ';

/** Of one part. With the delays below the last one is more than two hours after the first. */
export const attemptsMax = 12;
const firstDelayMs = 5_000;
const delayMaxMs = 3_600_000;
/** However long a platform wants to be left alone. */
const afterMaxMs = 24 * 3_600_000;
/** Between tries to record what became of a part, while the store can't. */
const recordAgainMs = 5_000;

export interface DeliverDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly channels: ReadonlyMap<string, Channel>;
}

/** Resolves once its settlement is stored. Throws if that was given up because of the signal. */
export async function deliver(deps: DeliverDeps, record: OutboxRecord, signal: AbortSignal): Promise<void> {
  const settlement = await sendParts(deps, record, signal);
  if (settlement.kind !== 'sent') deps.log.warn('delivery not sent', { outboxId: record.id, settlement });
  await recorded(deps, signal, () => deps.store.settleDelivery(record.id, settlement));
}

async function sendParts(deps: DeliverDeps, record: OutboxRecord, signal: AbortSignal): Promise<DeliverySettlement> {
  const channel = deps.channels.get(record.channel);
  if (channel === undefined) return { kind: 'failed', error: `no channel named ${record.channel} is configured` };
  const parts = partsOf(record.text, channel.limits);
  let { attempts, maybeSent } = record;
  for (let index = record.partsSent; index < parts.length; index += 1) {
    // A stop between two parts: the next process begins with this one, and nobody has seen it.
    if (signal.aborted) return { kind: 'retry', notBefore: deps.clock.now(), maybeSent: false, error: 'stopped' };
    const text = `${maybeSent && !channel.limits.dedupes ? repetitionMark : ''}${parts[index] ?? ''}`;
    const outcome = await attempt(deps, channel, record, { text, dedupeId: `${record.id}/${index + 1}` }, signal);
    if (outcome.kind !== 'sent') return settlementOf(outcome, attempts, deps.clock.now());
    if (index === parts.length - 1) return outcome;
    await recorded(deps, signal, () => deps.store.recordPartSent(record.id, outcome.platformId));
    [attempts, maybeSent] = [1, false];
  }
  return { kind: 'sent', platformId: null };
}

/** The mark has its room in every part, so that the parts are the same whether or not one is marked. */
export function partsOf(text: string, { textCharsMax, dedupes }: ChannelLimits): readonly string[] {
  if (textCharsMax === null) return [text];
  return splitText(text, dedupes ? textCharsMax : textCharsMax - repetitionMark.length);
}

interface Part {
  readonly text: string;
  readonly dedupeId: string;
}

async function attempt(
  deps: DeliverDeps,
  channel: Channel,
  { id, sessionId, target }: OutboxRecord,
  part: Part,
  signal: AbortSignal,
): Promise<DeliveryOutcome> {
  try {
    return await channel.deliver({ id, sessionId, target, ...part, replaces: null, buttons: [] }, signal);
  } catch (error) {
    // A channel must not throw. One that does all the same must not hold up its session until the next start.
    deps.log.error('a channel failed while it delivered', { channel: channel.name, outboxId: id, error });
    return { kind: 'retry', afterMs: 0, error: error instanceof Error ? error.message : String(error) };
  }
}

function settlementOf(
  outcome: Exclude<DeliveryOutcome, { kind: 'sent' }>,
  attempts: number,
  now: number,
): DeliverySettlement {
  if (outcome.kind === 'failed') return outcome;
  const { error, notSent = false } = outcome;
  if (attempts >= attemptsMax) return { kind: 'failed', error: `given up after ${attempts} attempts: ${error}` };
  return { kind: 'retry', notBefore: now + delayMs(outcome.afterMs, attempts), maybeSent: !notSent, error };
}

/** Doubles with every attempt; what the platform asks for counts if it is longer. */
function delayMs(afterMs: number, attempts: number): number {
  const own = Math.min(delayMaxMs, firstDelayMs * 2 ** (attempts - 1));
  return Math.max(own, Math.min(afterMs, afterMaxMs));
}

/** What has become of a part is known only here: it is kept until it can be stored, or the program leaves. */
async function recorded(deps: DeliverDeps, signal: AbortSignal, write: () => Promise<void>): Promise<void> {
  for (;;) {
    try {
      return await write();
    } catch (error) {
      if (!(error instanceof StoreError) || error.reason === 'conflict') throw error;
      deps.log.error('a delivery can not be recorded', { error });
      await sleep(deps.clock, recordAgainMs, signal);
    }
  }
}
