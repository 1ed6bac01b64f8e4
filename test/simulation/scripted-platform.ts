/**
 * The world's messengers: they send people's messages until they are acknowledged, sometimes again after that, and
 * show what is delivered. `web` knows a delivery that it has seen; `cli` shows every copy. Their memory outlives all.
 */
import type { Channel, Delivery, DeliveryOutcome } from '../../src/channels/channel.ts';
import { sleep } from '../../src/lib/clock.ts';
import type { InboxId, SessionId } from '../../src/protocol/ids.ts';
import { Dice } from './dice.ts';
import type { PlannedMessage } from './scenario.ts';
import { never } from './virtual-clock.ts';
import type { Life, World } from './world.ts';

const channelLimits = {
  web: { textCharsMax: null, dedupes: true },
  cli: { textCharsMax: 4_000, dedupes: false },
} as const;

export interface Acknowledged {
  readonly message: PlannedMessage;
  readonly sessionId: SessionId;
  readonly inboxId: InboxId;
}

export interface Shown {
  readonly delivery: Delivery;
  readonly channel: string;
  /** By a process that was replaced before. */
  readonly isLate: boolean;
}

export class ScriptedPlatform {
  readonly acknowledged: Acknowledged[] = [];
  readonly shown: Shown[] = [];
  /** Deliveries that the platform refused for good. */
  readonly refused = new Set<string>();
  readonly sessions = new Map<string, SessionId>();
  /** Messages that were not acknowledged yet. */
  outstanding = 0;
  readonly #world: World;
  readonly #dice: Dice;

  constructor(world: World) {
    this.#world = world;
    this.#dice = new Dice(world.scenario.seed, 3);
    this.outstanding = world.scenario.messages.length;
    for (const message of world.scenario.messages) {
      world.clock.setTimer(message.atMs, () => this.#send(message, message.repeats));
    }
  }

  #send(message: PlannedMessage, repeats: number, isRepeat = false): void {
    const again = () => {
      this.#world.clock.setTimer(this.#dice.between(500, 5_000), () => this.#send(message, repeats, isRepeat));
    };
    const { process } = this.#world;
    if (process === null) {
      again();
      return;
    }
    let isOver = false;
    const once = (action: () => void) => {
      if (isOver) return;
      isOver = true;
      action();
    };
    process.world.whenEnded(process, () => once(again));
    this.#receive(process, message).then(
      (receipt) =>
        once(() => {
          if (receipt === null) return again();
          this.#noteReceipt(message, receipt, isRepeat);
          if (repeats > 0) {
            const wait = this.#dice.between(0, 20_000);
            this.#world.clock.setTimer(wait, () => this.#send(message, repeats - 1, true));
          }
        }),
      () => once(again),
    );
  }

  #noteReceipt(message: PlannedMessage, receipt: { sessionId: SessionId; inboxId: InboxId }, isRepeat: boolean): void {
    const { observer } = this.#world;
    this.#world.trace(`platform: ${message.externalId} acknowledged as ${receipt.inboxId}${isRepeat ? ', again' : ''}`);
    observer.acknowledged(message, receipt.inboxId);
    if (isRepeat) return;
    this.outstanding -= 1;
    this.acknowledged.push({ message, ...receipt });
    if (this.sessions.has(message.chat)) return;
    this.sessions.set(message.chat, receipt.sessionId);
    observer.follow(receipt.sessionId);
  }

  /** Null if it was refused and is to be sent again. */
  async #receive(process: Life, message: PlannedMessage): Promise<{ sessionId: SessionId; inboxId: InboxId } | null> {
    const { channel, externalId, chat, text } = message;
    if (channel === 'cli') {
      const { sessionId, inboxId } = await process.api.send({ session: chat, text, externalId, channel });
      return { sessionId, inboxId };
    }
    const receipt = await process.intake.receive({
      channel,
      externalId,
      sender: { id: 'someone', name: 'Someone' },
      place: { kind: 'direct', chat },
      message: { role: 'user', parts: [{ kind: 'text', text }] },
    });
    return receipt.kind === 'accepted' ? receipt : null;
  }

  channelsFor(process: Life): Map<string, Channel> {
    const channel = (name: 'web' | 'cli'): Channel => ({
      name,
      limits: channelLimits[name],
      start: () => Promise.resolve(),
      stop: () => Promise.resolve(),
      deliver: (delivery, signal) => this.#deliver(process, name, delivery, signal),
    });
    return new Map((['web', 'cli'] as const).map((name) => [name, channel(name)]));
  }

  async #deliver(process: Life, channel: string, delivery: Delivery, signal: AbortSignal): Promise<DeliveryOutcome> {
    if (!process.isAlive) return never();
    const dice = this.#dice;
    const kind = dice.weighted({ sent: 20, 'not-sent': 3, failed: 0.5, lost: 2 });
    try {
      await sleep(process.clock, dice.delayMs(5_000), signal);
    } catch {
      return { kind: 'retry', afterMs: 0, error: 'leaving', notSent: true };
    }
    if (kind === 'not-sent') {
      return { kind: 'retry', afterMs: dice.delayMs(30_000), error: 'too many requests', notSent: true };
    }
    if (kind === 'failed') {
      this.refused.add(delivery.id);
      return { kind: 'failed', error: 'no such chat' };
    }
    const { dedupeId } = delivery;
    this.#world.trace(`platform: ${channel} shows ${dedupeId}: ${delivery.text.slice(0, 40)}`);
    const isKnown = this.shown.some((shown) => shown.delivery.dedupeId === dedupeId);
    if (channel !== 'web' || !isKnown) {
      this.shown.push({ delivery, channel, isLate: process.isReplaced });
    }
    await sleep(process.clock, dice.delayMs(2_000));
    if (kind === 'lost') {
      return { kind: 'retry', afterMs: dice.delayMs(10_000), error: 'no answer in time' };
    }
    return { kind: 'sent', platformId: `shown ${this.shown.length}` };
  }
}
