/**
 * One home with what survives around it: the ledger of effects, the platform, the followers, and whichever gateway runs
 * at the moment. People act out scenes in it while the gateway is killed and started again.
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ParkedAction } from '../../src/protocol/api.ts';
import type { SessionEvent } from '../../src/protocol/events.ts';
import { ApiClient } from './api-client.ts';
import { Chat } from './chat.ts';
import { GatewaySlot } from './gateway-slot.ts';
import type { Evidence, SentMessage } from './judge.ts';
import { gather } from './gather.ts';
import type { Fault } from './platform-book.ts';
import type { Scene, Setup } from './scenes.ts';
import { surround, telegramUsers, type Surroundings } from './surroundings.ts';
import { TelegramChat } from './telegram-chat.ts';
import type { TelegramPlace } from './scripted-telegram.ts';

const turnsPerSessionMax = 30;
const joinAfterMs = 60;
const quietLookMs = 10;
const logTailLines = 40;

/** What each lane speaks through. */
const laneKinds: Record<Exclude<Setup, 'telegram'>, readonly Chat['kind'][]> = {
  bundle: ['api', 'api', 'api'],
  surrounded: ['forgetful', 'exact', 'api'],
};
/** On Telegram one lane is a group in which many people write, the others are alone with the bot. */
const groupLane = 1;
const groupChat = -1_001;
type AnyChat = Chat | TelegramChat;

export interface WorldOptions {
  readonly setup: Setup;
  /** The gateway that knows the platform. */
  readonly gatewayFile: string;
  /** Ends everything that waits. */
  readonly signal: AbortSignal;
}

export interface Act {
  readonly token: string;
  readonly sendTwice: boolean;
  readonly fault: Fault | null;
}

export class World {
  readonly folder: string;
  readonly home: string;
  readonly setup: Setup;
  readonly surroundings: Surroundings;
  readonly gateway: GatewaySlot;
  readonly api: ApiClient;
  readonly problems: string[] = [];
  onEvent: (event: SessionEvent) => void = () => {};
  readonly #signal: AbortSignal;
  readonly #sent: (SentMessage & { mayPark: boolean })[] = [];
  readonly #removedEffects = new Set<string>();
  readonly #chats: AnyChat[] = [];
  readonly #lanes = new Map<number, AnyChat>();
  #people = 0;

  static async create(options: WorldOptions): Promise<World> {
    const folder = await mkdtemp(join(tmpdir(), 'talaria-chaos-'));
    return new World(options, folder, await surround(options.setup, folder, options.gatewayFile));
  }

  private constructor({ setup, signal }: WorldOptions, folder: string, surroundings: Surroundings) {
    this.folder = folder;
    this.home = join(folder, 'home');
    this.setup = setup;
    this.surroundings = surroundings;
    this.#signal = signal;
    this.gateway = new GatewaySlot(surroundings.program, this.home, signal);
    this.api = new ApiClient(() => this.gateway.url(), signal);
  }

  /** Acts out a scene in the lane's session to its end: everything acknowledged and every turn closed. */
  async act(lane: number, scene: Scene, { token, sendTwice, fault }: Act): Promise<void> {
    const chat = this.#chatOf(lane, scene, token);
    if (fault !== null) await chat.disturb(fault);
    if (scene.modelFault !== null) await this.surroundings.model?.fault(scene.modelFault);
    const sent = [];
    for (const [index, plan] of scene.words.entries()) {
      const words = chat instanceof TelegramChat ? `${plan.trim()} then say end-${token}-${index}` : plan;
      if (index > 0) await sleep(joinAfterMs);
      const message = await chat.say(words, `${token}-${index}`);
      if (sendTwice) await chat.sayAgain(message, words);
      sent.push(message);
      if (scene.afterwards === 'delete') continue;
      const answerHas = index === 0 ? scene.answerHas : null;
      this.#sent.push({ ...message, answerHas, mayStop: scene.afterwards === 'stop', mayPark: false });
    }
    const { session } = chat.follower;
    // Another one each time, so that it is a change.
    const effort = this.#sent.length % 2 === 0 ? 'low' : 'high';
    if (scene.afterwards === 'settings') await this.api.changeSettings(session, { effort });
    if (scene.afterwards === 'stop') await this.#stop(chat, sent[0]?.inboxId ?? '', scene.afterMs);
    if (scene.afterwards === 'status' && chat instanceof TelegramChat) await chat.command('/status');
    if (scene.afterwards === 'shorten' && chat instanceof TelegramChat) await chat.command('/compress');
    if (scene.afterwards === 'delete') {
      for (const id of scene.effects) this.#removedEffects.add(id);
      chat.isRemoved = true;
      await sleep(joinAfterMs);
      await this.api.delete(session);
      return chat.end();
    }
    for (const { inboxId } of sent) await chat.follower.settled(inboxId, this.#signal);
    if (scene.afterwards === 'import') await this.api.import(await this.api.export(session), `copy-${token}`);
    if (scene.afterwards === 'backup') await this.api.backup();
    if (scene.afterwards === 'renew' && chat instanceof TelegramChat) await chat.renew();
  }

  /** What is asked for when nothing runs yet is no stop. */
  async #stop(chat: AnyChat, inboxId: string, afterMs: number): Promise<void> {
    await chat.follower.promoted(inboxId, this.#signal);
    await sleep(afterMs);
    await chat.stop();
  }

  #chatOf(lane: number, scene: Scene, token: string): AnyChat {
    const before = this.#lanes.get(lane);
    if (before !== undefined && before.turns < turnsPerSessionMax && !scene.inFreshSession) {
      before.turns += 1;
      return before;
    }
    const chat = this.#newChat(lane, scene, `chat-${token}`);
    this.#chats.push(chat);
    if (scene.afterwards === 'delete') return chat;
    if (before !== undefined) void before.end();
    this.#lanes.set(lane, chat);
    return chat;
  }

  #newChat(lane: number, scene: Scene, name: string): AnyChat {
    const { api, surroundings } = this;
    const deps = {
      api,
      url: () => this.gateway.url(),
      signal: this.#signal,
      onEvent: (event: SessionEvent) => this.onEvent(event),
    };
    if (this.setup !== 'telegram')
      return new Chat({ ...deps, platform: surroundings.platform }, laneKinds[this.setup][lane] ?? 'api', name);
    const { telegram } = surroundings;
    const user = telegramUsers[this.#people++];
    if (telegram === null || user === undefined) throw new Error('there is nobody left to write on Telegram');
    const isAlone = lane !== groupLane || scene.afterwards === 'delete';
    const place: TelegramPlace = isAlone
      ? { chat: user, kind: 'private', user }
      : { chat: groupChat, kind: 'supergroup', user };
    return new TelegramChat({ ...deps, telegram }, place);
  }

  /** Turns of messages from this place on were hit often enough to be parked. */
  allowParked(from: number): void {
    for (const message of this.#sent.slice(from)) message.mayPark = true;
  }

  /** Tries every parked turn again, or gives it up, and waits for what comes of it. */
  async settleParked(from: number, action: ParkedAction): Promise<void> {
    for (const { session } of this.#sent.slice(from)) await this.api.settleParked(session, action);
    await this.quiet();
  }

  get sentCount(): number {
    return this.#sent.length;
  }

  /** Resolves once nothing runs or waits, and all is delivered but what the platform's faults hold up for seconds. */
  async quiet(): Promise<void> {
    for (;;) {
      const { turns, outbox } = await this.api.status();
      const isDelivered = outbox.pending === 0 || (await this.#troubled()) > 0;
      if (turns.running + turns.queued === 0 && isDelivered) return;
      await sleep(quietLookMs, undefined, { signal: this.#signal });
    }
  }

  async #troubled(): Promise<number> {
    return (await this.surroundings.platform?.troubled()) ?? 0;
  }

  /** Resolves once everything is delivered. */
  async allDelivered(): Promise<void> {
    await this.quiet();
    while ((await this.api.status()).outbox.pending > 0) await sleep(quietLookMs, undefined, { signal: this.#signal });
  }

  /** Everything that can be known from outside, once all is delivered. */
  async evidence(): Promise<Evidence> {
    const { evidence, problems } = await gather(this, this.#chats);
    this.problems.push(...problems, ...this.api.problems);
    return { ...evidence, sent: this.#sent, effectsOfRemoved: this.#removedEffects };
  }

  /** The end of the gateway's log, for whoever looks for the cause. */
  async logTail(): Promise<string> {
    const log = await readFile(join(this.home, 'logs', 'talaria.log'), 'utf8').catch(() => '');
    const tail = log.trimEnd().split('\n').slice(-logTailLines).join('\n');
    return `${tail}\n${this.gateway.current?.stderr ?? ''}`.trimEnd();
  }

  /** Ends what runs, at once. */
  async destroy(keepFolder: boolean): Promise<void> {
    await this.gateway.kill();
    await Promise.all(this.#chats.map((chat) => chat.end()));
    await this.surroundings.end();
    if (!keepFolder) await rm(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}
