/**
 * Sends one delivery, in as many parts as its channel needs, beginning with the first that has not arrived. Each part
 * is on record as soon as it has. A part whose earlier attempt may have arrived goes out again all the same: where the
 * platform can't tell that it is the same one, it says so in front. What a turn says takes the place of its draft.
 */
import type { Channel, ChannelLimits, Delivery, DeliveryFile, DeliveryOutcome } from '../../channels/channel.ts';
import { present } from '../../lib/assert.ts';
import { sleep, type Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import { StoreError, type DeliverySettlement, type OutboxRecord, type Store } from '../../store/store.ts';
import { splitText } from './split-text.ts';

export const repetitionMark = '(possibly repeated) ';

/**
 * Of one part whose attempts may each leave a copy. With the delays below the last one is more than two hours after the
 * first.
 */
export const attemptsMax = 12;
const firstDelayMs = 5_000;
const delayMaxMs = 3_600_000;
/** The same where no attempt leaves a copy, as while a platform can't be reached: soon after it can, and for a day. */
const harmlessAttemptsMax = 1_440;
const harmlessDelayMaxMs = 60_000;
/** However long a platform wants to be left alone. */
const afterMaxMs = 24 * 3_600_000;
/** Between tries to record what became of a part, while the store can't. */
const recordAgainMs = 5_000;

export interface DeliverDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly channels: ReadonlyMap<string, Channel>;
  /** Missing where no work in progress is shown. */
  readonly drafts?: DraftTaker;
}

/** Who shows work in progress. */
export interface DraftTaker {
  /** The draft that this delivery takes the place of; nobody changes it any more until `done`. */
  take(record: OutboxRecord): Promise<TakenDraft>;
}

export interface TakenDraft {
  readonly draftId: string | null;
  /** Called once, when it is on record: `sent` if the draft has been replaced, `retry` if it may be later. */
  done(outcome: DeliverySettlement['kind']): void;
}

/** Resolves once its settlement is stored. Throws if that was given up because of the signal. */
export async function deliver(deps: DeliverDeps, record: OutboxRecord, signal: AbortSignal): Promise<void> {
  const draft = await draftFor(deps, record);
  let outcome: DeliverySettlement['kind'] = 'retry';
  try {
    const settlement = await sendParts(deps, record, draft, signal);
    if (settlement.kind !== 'sent') {
      // Said often enough by then.
      const isNews = settlement.kind === 'failed' || record.attempts <= attemptsMax;
      deps.log[isNews ? 'warn' : 'debug']('delivery not sent', { outboxId: record.id, settlement });
    }
    await recorded(deps, signal, () => deps.store.settleDelivery(record.id, settlement));
    outcome = settlement.kind;
  } finally {
    draft.done(outcome);
  }
}

/** Only the first part takes the place of a draft. */
async function draftFor(deps: DeliverDeps, record: OutboxRecord): Promise<TakenDraft> {
  if (record.partsSent > 0) return { draftId: null, done() {} };
  const taken = await deps.drafts?.take(record);
  if (taken === undefined) return { draftId: record.draftId, done() {} };
  let isDone = false;
  return {
    draftId: taken.draftId,
    done(outcome) {
      if (!isDone) taken.done(outcome);
      isDone = true;
    },
  };
}

async function sendParts(
  deps: DeliverDeps,
  record: OutboxRecord,
  draft: TakenDraft,
  signal: AbortSignal,
): Promise<DeliverySettlement> {
  const channel = deps.channels.get(record.channel);
  if (channel === undefined) return { kind: 'failed', error: `no channel named ${record.channel} is configured` };
  const parts = partsOf(record, channel.limits);
  let { attempts, maybeSent } = record;
  for (let index = record.partsSent; index < parts.length; index += 1) {
    // A stop between two parts: the next process begins with this one, and nobody has seen it.
    if (signal.aborted) return { kind: 'retry', notBefore: deps.clock.now(), maybeSent: false, error: 'stopped' };
    const isLast = index === parts.length - 1;
    const replaces = index === 0 ? draft.draftId : null;
    // To change a draft twice to the same text is to change it once.
    const isMarked = maybeSent && !channel.limits.dedupes && replaces === null;
    const part: Part = {
      text: isMarked ? marked(parts[index] ?? '') : (parts[index] ?? ''),
      file: index === 0 ? fileOf(deps.store, record) : null,
      dedupeId: `${record.id}/${index + 1}`,
      replaces,
      buttons: isLast ? record.buttons : [],
    };
    const outcome = await attempt(deps, channel, record, part, signal);
    if (outcome.kind !== 'sent') {
      return settlementOf(outcome, { attempts, maybeSent, isEdit: replaces !== null }, deps.clock.now());
    }
    if (isLast) return outcome;
    await recorded(deps, signal, () => deps.store.recordPartSent(record.id, outcome.platformId));
    draft.done('sent');
    [attempts, maybeSent] = [1, false];
  }
  return { kind: 'sent', platformId: null };
}

function marked(text: string): string {
  return text === '' ? repetitionMark.trimEnd() : `${repetitionMark}${text}`;
}

/**
 * The mark has its room in every part, so that the parts are the same whether or not one is marked. A file is the first
 * part; a caption that is too long for one follows it as text.
 */
export function partsOf(
  { text, file }: Pick<OutboxRecord, 'text' | 'file'>,
  { textCharsMax, captionCharsMax = textCharsMax ?? undefined, dedupes }: ChannelLimits,
): readonly string[] {
  const room = dedupes ? 0 : repetitionMark.length;
  const parts = textCharsMax === null ? [text] : splitText(text, textCharsMax - room);
  if (file === null || text.length <= (captionCharsMax ?? Infinity) - room) return file === null ? parts : [text];
  return ['', ...parts];
}

function fileOf({ read }: Store, { file }: OutboxRecord): DeliveryFile | null {
  if (file === null) return null;
  const { name, content } = file;
  const bytes = async () => present(await read.content(content.sha256), `the content of ${name}`);
  return { name, mediaType: content.mediaType, bytes };
}

type Part = Pick<Delivery, 'text' | 'dedupeId' | 'replaces' | 'buttons' | 'file'>;

async function attempt(
  deps: DeliverDeps,
  channel: Channel,
  { id, sessionId, target }: OutboxRecord,
  part: Part,
  signal: AbortSignal,
): Promise<DeliveryOutcome> {
  try {
    return await channel.deliver({ id, sessionId, target, ...part }, signal);
  } catch (error) {
    // A channel must not throw. One that does all the same must not hold up its session until the next start.
    deps.log.error('a channel failed while it delivered', { channel: channel.name, outboxId: id, error });
    return { kind: 'retry', afterMs: 0, error: error instanceof Error ? error.message : String(error) };
  }
}

interface Attempted {
  readonly attempts: number;
  /** Whether an earlier attempt may have arrived. */
  readonly maybeSent: boolean;
  /** Of a draft: made twice it is made once. */
  readonly isEdit: boolean;
}

function settlementOf(
  outcome: Exclude<DeliveryOutcome, { kind: 'sent' }>,
  { attempts, maybeSent, isEdit }: Attempted,
  now: number,
): DeliverySettlement {
  if (outcome.kind === 'failed') return outcome;
  const { error, notSent = false } = outcome;
  const isHarmless = notSent || isEdit;
  // The first doubt after many harmless attempts is no reason to give up.
  const isGivenUp = isHarmless ? attempts >= harmlessAttemptsMax : attempts >= attemptsMax && maybeSent;
  if (isGivenUp) return { kind: 'failed', error: `given up after ${attempts} attempts: ${error}` };
  const mostMs = isHarmless || !maybeSent ? harmlessDelayMaxMs : delayMaxMs;
  return { kind: 'retry', notBefore: now + delayMs(outcome.afterMs, attempts, mostMs), maybeSent: !notSent, error };
}

/** Doubles with every attempt; what the platform asks for counts if it is longer. */
function delayMs(afterMs: number, attempts: number, mostMs: number): number {
  const own = Math.min(mostMs, firstDelayMs * 2 ** (attempts - 1));
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
