/**
 * The contract of a chat command: one row of the table, the same on every channel. A command acts at once, also in the
 * middle of a turn, and answers with a message of its own that no model sees.
 */
import type { InboundMessage, Place } from '../../channels/channel.ts';
import type { SessionRecord, Role, ReplyButton } from '../../store/store.ts';
import type { UserMessage } from '../../protocol/messages.ts';
import type { Identity } from '../identity.ts';
import type { CommandServices } from './services.ts';

/**
 * What happens to a command whose process died after it acted and before its answer was stored: it comes again and runs
 * again, at once and before anything later of the same place. `reads`: it changes nothing. `idempotent`: a second time
 * changes nothing more. `remembers`: it finds by what is stored that it has acted, and only answers.
 */
export type Repetition = 'reads' | 'idempotent' | 'remembers';

export interface Command {
  readonly name: string;
  /** What stands behind the name, in capitals; empty if nothing does. */
  readonly usage: string;
  /** A phrase for help and menus. */
  readonly summary: string;
  /** The least role that may use it, unless the configuration says otherwise. */
  readonly role: Role;
  readonly repetition: Repetition;
  /** It is announced and does not work yet. */
  readonly isLater?: true;
  run(call: CommandCall, services: CommandServices): Promise<CommandOutcome>;
}

export interface CommandCall {
  readonly identity: Identity;
  readonly place: Place;
  /** Of the message or press: the same one is the same command. */
  readonly externalId: string;
  /** What stands behind the name, trimmed. */
  readonly argument: string;
  /** The place's open session; null if it has none yet. */
  readonly session: SessionRecord | null;
  /** The sender names the session with every message: none has to be given to the place. */
  readonly choosesSession: boolean;
  /** All that was sent with it. */
  readonly message: UserMessage;
  readonly contents: NonNullable<InboundMessage['contents']>;
}

export type BusyMode = 'steer' | 'queue' | 'interrupt';

export type CommandOutcome =
  | {
      readonly kind: 'say';
      readonly text: string;
      readonly buttons?: readonly ReplyButton[];
      /** The sender goes on here from now on; null: with a new session. Left out: where they are. */
      readonly movedTo?: SessionRecord | null;
    }
  /** It was a message after all, to be sent with this busy mode. */
  | { readonly kind: 'send'; readonly message: UserMessage; readonly mode: BusyMode };

export function say(text: string, buttons: readonly ReplyButton[] = []): CommandOutcome {
  return { kind: 'say', text, buttons };
}

export function moved(text: string, movedTo: SessionRecord | null): CommandOutcome {
  return { kind: 'say', text, movedTo };
}

/** Asks before something is done that can't be taken back. */
export function askFirst(text: string, label: string, command: string): CommandOutcome {
  return say(`${text}\nPress the button, or send: ${command}`, [{ label, value: command }]);
}

export const noSession = say('There is no conversation here yet; it begins with your first message.');
