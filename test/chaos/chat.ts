/** One conversation of a run: through the gateway's own API, or through a chat on the platform; followed to its end. */
import type { SessionEvent } from '../../src/protocol/events.ts';
import type { Acknowledged, ApiClient } from './api-client.ts';
import { Follower } from './follower.ts';
import type { ChatKind, Fault } from './platform-book.ts';
import type { ScriptedPlatform } from './scripted-platform.ts';

export interface ChatDeps {
  readonly api: ApiClient;
  readonly platform: ScriptedPlatform | null;
  /** Waits for a gateway that is ready. */
  readonly url: () => Promise<string>;
  readonly signal: AbortSignal;
  readonly onEvent: (event: SessionEvent) => void;
}

export class Chat {
  readonly kind: 'api' | ChatKind;
  readonly name: string;
  turns = 0;
  isRemoved = false;
  readonly #deps: ChatDeps;
  /** Not before there is a session to follow. */
  #follower: Follower | null = null;

  constructor(deps: ChatDeps, kind: Chat['kind'], name: string) {
    this.#deps = deps;
    this.kind = kind;
    this.name = name;
    // Through the API people choose the name of their session.
    if (kind === 'api') this.#followSession(name);
  }

  /** What the gateway's API knows the session by; null before anything was acknowledged. */
  get session(): string | null {
    return this.#follower?.session ?? null;
  }

  get follower(): Follower {
    if (this.#follower === null) throw new Error(`nothing was acknowledged in ${this.name}`);
    return this.#follower;
  }

  async say(words: string, externalId: string): Promise<Acknowledged> {
    if (this.kind === 'api') return this.#deps.api.send(this.name, words, externalId);
    const message = { externalId, chat: this.name, text: words };
    const { inboxId, sessionId } = await this.#platform.write(this.kind, message, this.#deps.signal);
    if (this.#follower === null) this.#followSession(sessionId);
    return { externalId, inboxId, session: sessionId };
  }

  /** Who lost the receipt says it again, long after. */
  async sayAgain(earlier: Acknowledged, words: string): Promise<void> {
    if (this.kind === 'api') await this.#deps.api.sendAgain(earlier, words);
    else await this.say(words, earlier.externalId);
  }

  async stop(): Promise<void> {
    await this.#deps.api.stop(this.follower.session);
  }

  /** Something will go wrong when the answer comes. */
  async disturb(fault: Fault): Promise<void> {
    if (this.kind !== 'api') await this.#platform.fault(this.name, fault);
  }

  async end(): Promise<void> {
    await this.#follower?.end();
  }

  get #platform(): ScriptedPlatform {
    if (this.#deps.platform === null) throw new Error('there is no platform in this setup');
    return this.#deps.platform;
  }

  #followSession(session: string): void {
    const { url, api, signal, onEvent } = this.#deps;
    this.#follower = new Follower(session, url, (event) => {
      onEvent(event);
      if (event.kind !== 'entry' || event.entry.kind !== 'notice' || event.entry.question === undefined) return;
      api.answer(session, event.entry.question.callId, 'yes').catch((error: unknown) => {
        if (!signal.aborted) throw error;
      });
    });
  }
}
