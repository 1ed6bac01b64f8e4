/** Somebody who chats with a whole gateway, for tests of commands: says things and reads what comes back. */
import type { Button, InboundMessage } from '../../channels/channel.ts';
import { ModelError } from '../../models/model.ts';
import { textOf } from '../../protocol/messages.ts';
import type { SessionRecord } from '../../store/store.ts';
import { sessionKeyOf } from '../route-session.ts';
import { chatMessage, ends, openTestGateway, type Answer, type TestGateway } from '../test-gateway.ts';

type GatewayOptions = Omit<Parameters<typeof openTestGateway>[0], 'answer'>;

export class TestChat {
  readonly gateway: TestGateway;
  readonly who: Partial<InboundMessage>;
  /** What the model was sent, newest last: the texts of each prompt. */
  readonly prompts: string[][];
  /** While it is set, the model says nothing until it is told to. */
  readonly hold: { until: Promise<void> | null };
  buttons: readonly Button[] = [];
  /** Whether the buttons of the last press may go. */
  isSettled = false;

  private constructor(gateway: TestGateway, prompts: string[][], hold: TestChat['hold'], who: Partial<InboundMessage>) {
    this.gateway = gateway;
    this.prompts = prompts;
    this.hold = hold;
    this.who = who;
  }

  static async open(options: GatewayOptions = {}, answer?: Answer): Promise<TestChat> {
    const prompts: string[][] = [];
    const hold: TestChat['hold'] = { until: null };
    const told: Answer = async function* (request, signal) {
      const texts = request.messages.map(textOf);
      prompts.push(texts);
      if (answer !== undefined) return yield* answer(request, signal);
      yield { kind: 'text-delta', text: `answer ${prompts.length}` };
      const stopped = new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
      if (hold.until !== null) await Promise.race([hold.until, stopped]);
      if (signal.aborted) yield { kind: 'failed', error: new ModelError('cancelled', 'cancelled') };
      else yield ends('answer');
    };
    return new TestChat(await openTestGateway({ answer: told, ...options }), prompts, hold, {});
  }

  /** The same gateway, somebody else or somewhere else. */
  as(who: Partial<InboundMessage>): TestChat {
    return new TestChat(this.gateway, this.prompts, this.hold, { ...this.who, ...who });
  }

  /** What is said back, once nothing is left to do. */
  async says(text: string, change: Partial<InboundMessage> = {}): Promise<string[]> {
    await this.gateway.intake.receive(chatMessage(text, { ...this.who, ...change }));
    return this.hears();
  }

  /** How long it takes until it is dealt with, while whatever else goes on goes on. */
  async takesMs(text: string): Promise<number> {
    const { clock, intake } = this.gateway;
    const before = clock.now();
    const state = { isDone: false };
    const received = intake.receive(chatMessage(text, this.who)).finally(() => (state.isDone = true));
    while (!state.isDone) await clock.advance(100);
    await received;
    return clock.now() - before;
  }

  /** Presses a button; what is said back, and the word for the one who pressed. */
  async presses(value: string, externalId = `press ${value}`): Promise<string[]> {
    const { message: _, ...press } = chatMessage('', { ...this.who, externalId });
    const { text, settled } = await this.gateway.press({ ...press, value });
    this.isSettled = settled;
    return [text, ...(await this.hears())];
  }

  async hears(): Promise<string[]> {
    const { gateway } = this;
    if (this.hold.until === null) {
      const sessions = await gateway.store.read.sessions({ limit: 99 });
      for (const { id } of sessions) await gateway.drain.whenIdle(id);
    }
    for (let looks = 0; looks < 5; looks += 1) await gateway.clock.advance(0);
    const delivered = gateway.deliveries.splice(0);
    this.buttons = delivered.at(-1)?.buttons ?? [];
    return delivered.map(({ text }) => text);
  }

  session(): Promise<SessionRecord | null> {
    const { channel, place, sender } = chatMessage('', this.who);
    return this.gateway.store.read.sessionByKey(sessionKeyOf({ channel, place, sender }));
  }

  /** From now on the model waits in the middle of its answer; the returned function lets it go on. */
  holds(): () => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.hold.until = promise;
    return () => {
      this.hold.until = null;
      resolve();
    };
  }

  close(): Promise<void> {
    return this.gateway.close();
  }
}
