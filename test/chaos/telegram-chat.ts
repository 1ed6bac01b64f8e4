/**
 * One person's place on the scripted Telegram: alone with the bot, or in a group with others. Its sessions, one after the
 * other, are found by their key and followed to their ends.
 */
import type { Acknowledged } from './api-client.ts';
import type { ChatDeps } from './chat.ts';
import { Follower } from './follower.ts';
import type { Fault } from './platform-book.ts';
import type { ScriptedTelegram, TelegramPlace } from './scripted-telegram.ts';

/** Commands that people give here, and how each is answered. */
export const commandAnswers = {
  '/stop': /^(?:Stopping|Nothing is running)\.$/,
  '/status': /^(?:Conversation: |There is no conversation here)/,
  '/new yes': /^A new conversation begins/,
  '/compress': /^(?:The conversation is (?:being )?shortened|The conversation is being worked on elsewhere)/,
} as const;
/** What came of a wish to have the conversation shortened is said apart, when it is done. */
export const shorteningWords =
  /^(?:The conversation grew long|What came before is told|Old results of tools are told|Shortening the conversation would win)/;
export type TelegramCommand = keyof typeof commandAnswers;

/** In front of words that are said in a group. */
const mention = '@talaria_bot ';

export interface TelegramChatDeps extends Omit<ChatDeps, 'platform'> {
  readonly telegram: ScriptedTelegram;
}

export class TelegramChat {
  readonly kind = 'telegram';
  readonly name: string;
  readonly place: TelegramPlace;
  turns = 0;
  isRemoved = false;
  /** Of all its sessions, oldest first. */
  readonly followers: Follower[] = [];
  readonly commands: TelegramCommand[] = [];
  readonly #deps: TelegramChatDeps;
  readonly #updates = new Map<string, number>();
  #follower: Follower | null = null;

  constructor(deps: TelegramChatDeps, place: TelegramPlace) {
    this.#deps = deps;
    this.place = place;
    this.name = `${place.chat} by ${place.user}`;
  }

  get follower(): Follower {
    if (this.#follower === null) throw new Error(`nothing was acknowledged in ${this.name}`);
    return this.#follower;
  }

  async say(words: string, externalId: string): Promise<Acknowledged> {
    const { signal } = this.#deps;
    this.#updates.set(externalId, await this.#write(words.trim()));
    this.#follower ??= await this.#follow();
    const inboxId = await this.#follower.inboxIdOf(words.trim(), signal);
    return { externalId, inboxId, session: this.#follower.session };
  }

  async sayAgain({ externalId }: Acknowledged): Promise<void> {
    const updateId = this.#updates.get(externalId);
    if (updateId !== undefined) await this.#deps.telegram.repeat(updateId);
  }

  async disturb(fault: Fault): Promise<void> {
    await this.#deps.telegram.fault(this.place.chat, fault);
  }

  async stop(): Promise<void> {
    await this.command('/stop');
  }

  /** The next words begin another session. */
  async renew(): Promise<void> {
    await this.command('/new yes');
    this.#follower = null;
  }

  async command(command: TelegramCommand): Promise<void> {
    this.commands.push(command);
    await this.#write(command);
  }

  async end(): Promise<void> {
    await Promise.all(this.followers.map((follower) => follower.end()));
  }

  #write(text: string): Promise<number> {
    const { telegram, signal } = this.#deps;
    const isCommand = text.startsWith('/');
    return telegram.write(this.place, this.place.kind === 'private' || isCommand ? text : mention + text, signal);
  }

  async #follow(): Promise<Follower> {
    const { api, url, onEvent } = this.#deps;
    const { kind, chat, user } = this.place;
    const key = kind === 'private' ? `telegram:direct:${chat}` : `telegram:group:${chat}:${user}`;
    const follower = new Follower(await api.sessionOf(key), url, onEvent);
    this.followers.push(follower);
    return follower;
  }
}
