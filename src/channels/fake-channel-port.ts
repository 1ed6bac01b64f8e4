/** The gateway's side of a channel, for tests: remembers what it was given, and can be made to wait, refuse or fail. */
import type { ChannelPort, InboundMessage, InboundPress, PressAnswer, Receipt } from './channel.ts';
import type { InboxId, SessionId } from '../protocol/ids.ts';
import { textOf } from '../protocol/messages.ts';

const untilTimeoutMs = 20_000;

export class FakeChannelPort implements ChannelPort {
  /** In the order they came; a message that comes again is there again. */
  readonly asked: InboundMessage[] = [];
  /** Only those that were taken, once each: what a store would hold. */
  readonly stored: InboundMessage[] = [];
  readonly presses: InboundPress[] = [];
  /** What becomes of the next messages; null: they are stored. */
  refusal: Receipt | Error | null = null;
  answer: PressAnswer = { text: 'done', settled: true };
  mayFetch: ChannelPort['mayFetch'] = () => Promise.resolve(true);
  #gate: Promise<void> = Promise.resolve();
  #listeners: (() => void)[] = [];

  /** From now on nothing is taken until the returned function is called. */
  hold(): () => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#gate = promise;
    return resolve;
  }

  async receive(message: InboundMessage): Promise<Receipt> {
    this.asked.push(message);
    this.#tell();
    await this.#gate;
    if (this.refusal instanceof Error) throw this.refusal;
    if (this.refusal !== null) return this.refusal;
    const duplicate = this.stored.some(({ externalId }) => externalId === message.externalId);
    if (!duplicate) this.stored.push(message);
    this.#tell();
    return { kind: 'accepted', sessionId: 'ses_test' as SessionId, inboxId: 'inb_test' as InboxId, duplicate };
  }

  async press(press: InboundPress): Promise<PressAnswer> {
    this.presses.push(press);
    this.#tell();
    await this.#gate;
    return this.answer;
  }

  get texts(): readonly string[] {
    return this.stored.map(({ message }) => textOf(message));
  }

  /** Resolves when it holds; asked whenever something comes. Rejects if it takes too long. */
  async until(holds: () => boolean): Promise<void> {
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(() => late.reject(new Error('waited in vain for a message')), untilTimeoutMs);
    try {
      while (!holds()) {
        const next = new Promise<void>((resolve) => this.#listeners.push(resolve));
        await Promise.race([next, late.promise]);
      }
    } finally {
      clearTimeout(timer);
    }
  }

  #tell(): void {
    for (const listener of this.#listeners.splice(0)) listener();
  }
}
