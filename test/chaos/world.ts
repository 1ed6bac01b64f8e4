/**
 * One home with what survives around it: the ledger of effects, the platform, the followers, and whichever gateway runs
 * at the moment. People act out scenes in it while the gateway is killed and started again.
 */
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ParkedAction } from '../../src/protocol/api.ts';
import type { SessionEvent } from '../../src/protocol/events.ts';
import { Follower } from './follower.ts';
import { GatewayProcess, type GatewayEnd } from './gateway-process.ts';
import type { Evidence, SentMessage } from './judge.ts';
import { createLedger, effectCommand, readLedger } from './ledger.ts';
import { Platform } from './platform.ts';
import type { Scene } from './scenes.ts';

const turnsPerSessionMax = 30;
const joinAfterMs = 60;
const quietLookMs = 10;
const logTailLines = 40;

export interface WorldOptions {
  /** Where `home` and `ledger` go. */
  readonly folder: string;
  /** Ends everything that waits. */
  readonly signal: AbortSignal;
}

interface Chat {
  readonly name: string;
  readonly follower: Follower;
  turns: number;
}

export class World {
  readonly folder: string;
  readonly home: string;
  readonly platform: Platform;
  readonly readyMs: number[] = [];
  readonly problems: string[] = [];
  onEvent: (event: SessionEvent) => void = () => {};
  gateway: GatewayProcess | null = null;
  readonly #signal: AbortSignal;
  readonly #sent: (SentMessage & { mayPark: boolean })[] = [];
  readonly #removedEffects = new Set<string>();
  readonly #chats: Chat[] = [];
  readonly #removed = new Set<Chat>();
  readonly #lanes = new Map<number, Chat>();
  #wakers = new Set<() => void>();

  static async create(signal: AbortSignal): Promise<World> {
    const folder = await mkdtemp(join(tmpdir(), 'talaria-chaos-'));
    await createLedger(folder);
    await mkdir(join(folder, 'home'));
    return new World({ folder, signal });
  }

  constructor({ folder, signal }: WorldOptions) {
    this.folder = folder;
    this.home = join(folder, 'home');
    this.#signal = signal;
    this.platform = new Platform(() => this.#url(), signal);
  }

  effect = (id: string, seconds: number): string => effectCommand(this.folder, id, seconds);

  start(fault: string | null): GatewayProcess {
    const gateway = new GatewayProcess(this.home, fault);
    this.gateway = gateway;
    void gateway.ready.then(() => {
      for (const wake of this.#wakers) wake();
    });
    return gateway;
  }

  /** In good order; says how it ended, because a fault point may come first. */
  async stopGateway(): Promise<GatewayEnd | null> {
    const { gateway } = this;
    if (gateway === null) return null;
    // Before that it has no ear for the signal.
    await gateway.ready;
    gateway.signal('SIGTERM');
    const end = await gateway.ended;
    if (end.code !== 0 && end.signal !== 'SIGKILL')
      this.problems.push(`the gateway left with ${JSON.stringify(end)}: ${gateway.stderr}`);
    return end;
  }

  /** The address of a gateway that is ready, as soon as there is one. */
  async #url(): Promise<string> {
    for (;;) {
      this.#signal.throwIfAborted();
      const { gateway } = this;
      const url = gateway?.isAlive === true ? await gateway.ready : null;
      if (url !== null && gateway?.isAlive === true) return url;
      await new Promise<void>((resolve) => {
        const wake = () => {
          this.#wakers.delete(wake);
          this.#signal.removeEventListener('abort', wake);
          resolve();
        };
        this.#wakers.add(wake);
        this.#signal.addEventListener('abort', wake);
      });
    }
  }

  /** Acts out a scene in the lane's session to its end: everything acknowledged and every turn closed. */
  async act(lane: number, scene: Scene, token: string, sendTwice: boolean): Promise<void> {
    const { platform } = this;
    const chat = this.#chatOf(lane, scene, token);
    const sent = [];
    for (const [index, words] of scene.words.entries()) {
      if (index > 0) await sleep(joinAfterMs);
      const message = await platform.send(chat.name, words, `${token}-${index}`);
      if (sendTwice) await platform.sendAgain(message, words);
      sent.push(message);
      if (scene.afterwards === 'delete') continue;
      const answerHas = index === 0 ? scene.answerHas : null;
      this.#sent.push({ ...message, answerHas, mayStop: scene.afterwards === 'stop', mayPark: false });
    }
    if (scene.afterwards === 'stop') await this.#stop(chat, sent[0]?.inboxId ?? '');
    if (scene.afterwards === 'delete') {
      for (const id of scene.effects) this.#removedEffects.add(id);
      this.#removed.add(chat);
      await sleep(joinAfterMs);
      await platform.delete(chat.name);
      await chat.follower.end();
      return;
    }
    for (const { inboxId } of sent) await chat.follower.settled(inboxId, this.#signal);
    if (scene.afterwards === 'import') await platform.import(await platform.export(chat.name), `copy-${token}`);
    if (scene.afterwards === 'backup') await platform.backup();
  }

  /** What is asked for when nothing runs yet is no stop. */
  async #stop(chat: Chat, inboxId: string): Promise<void> {
    await chat.follower.promoted(inboxId, this.#signal);
    await sleep(joinAfterMs);
    await this.platform.stop(chat.name);
  }

  #chatOf(lane: number, scene: Scene, token: string): Chat {
    const before = this.#lanes.get(lane);
    if (before !== undefined && before.turns < turnsPerSessionMax && !scene.inFreshSession) {
      before.turns += 1;
      return before;
    }
    const name = `chat-${token}`;
    const follower = new Follower(
      name,
      () => this.#url(),
      (event) => this.onEvent(event),
    );
    const chat = { name, follower, turns: 1 };
    this.#chats.push(chat);
    if (scene.afterwards === 'delete') return chat;
    if (before !== undefined) void before.follower.end();
    this.#lanes.set(lane, chat);
    return chat;
  }

  /** Turns of messages from this place on were hit often enough to be parked. */
  allowParked(from: number): void {
    for (const message of this.#sent.slice(from)) message.mayPark = true;
  }

  /** Tries every parked turn again, or gives it up, and waits for what comes of it. */
  async settleParked(from: number, action: ParkedAction): Promise<void> {
    for (const { session } of this.#sent.slice(from)) await this.platform.settleParked(session, action);
    await this.quiet();
  }

  get sentCount(): number {
    return this.#sent.length;
  }

  /** Resolves once nothing runs, waits or is to be delivered. */
  async quiet(): Promise<void> {
    for (;;) {
      const { turns, outbox } = await this.platform.status();
      if (turns.running + turns.queued + outbox.pending === 0) return;
      await sleep(quietLookMs, undefined, { signal: this.#signal });
    }
  }

  /** Everything that can be known from outside, once all is quiet. */
  async evidence(): Promise<Evidence> {
    const transcripts = new Map<string, Awaited<ReturnType<Platform['transcript']>>>();
    const shown = new Map<string, Follower['shown']>();
    for (const chat of this.#chats) {
      await chat.follower.end();
      this.problems.push(...chat.follower.problems);
      if (this.#removed.has(chat)) continue;
      transcripts.set(chat.name, await this.platform.transcript(chat.name));
      shown.set(chat.name, chat.follower.shown);
    }
    this.problems.push(...this.platform.problems);
    const ledger = await readLedger(this.folder, this.home);
    return { sent: this.#sent, transcripts, shown, ledger, effectsOfRemoved: this.#removedEffects };
  }

  /** The end of the gateway's log, for whoever looks for the cause. */
  async logTail(): Promise<string> {
    const log = await readFile(join(this.home, 'logs', 'talaria.log'), 'utf8').catch(() => '');
    const tail = log.trimEnd().split('\n').slice(-logTailLines).join('\n');
    return `${tail}\n${this.gateway?.stderr ?? ''}`.trimEnd();
  }

  /** Ends what runs, at once. */
  async destroy(keepFolder: boolean): Promise<void> {
    this.gateway?.signal('SIGKILL');
    await this.gateway?.ended;
    await Promise.all(this.#chats.map((chat) => chat.follower.end()));
    if (!keepFolder) await rm(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}
