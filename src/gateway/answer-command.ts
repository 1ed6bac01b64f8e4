/**
 * Runs a command that arrived, as a message or by a button, and queues what it says. The same message or press is
 * answered once: one whose answer is stored is not run again.
 */
import type { InboundMessage } from '../channels/channel.ts';
import type { IdSource } from '../lib/ids.ts';
import type { UserMessage } from '../protocol/messages.ts';
import type { SessionRecord, Store } from '../store/store.ts';
import { commandButton } from './command-button.ts';
import type { CommandOutcome } from './commands/command.ts';
import type { Commands } from './commands/commands.ts';
import type { Arrival, Identity } from './identity.ts';

export interface AnswerCommandDeps {
  readonly store: Store;
  readonly ids: IdSource;
  readonly commands: Commands;
  /** Whether a direct message that answers this one is stored. */
  readonly wasAnswered: (channel: string, externalId: string) => Promise<boolean>;
  /** There is something to deliver. */
  readonly poke: () => void;
}

export interface ArrivedCommand extends Arrival {
  readonly externalId: string;
  readonly identity: Identity;
  /** The one that the sender has chosen; undefined: the place's. */
  readonly chosen: SessionRecord | null | undefined;
  readonly word: string;
  readonly argument: string;
  readonly message: UserMessage;
  readonly contents?: InboundMessage['contents'];
}

export type CommandAnswer =
  | Extract<CommandOutcome, { kind: 'send' }>
  /** `movedTo` as in the outcome. */
  | { readonly kind: 'said'; readonly movedTo?: SessionRecord | null };

/** What is to be sent as a message, if that is what it came to; everything else is dealt with. */
export async function answerCommand(deps: AnswerCommandDeps, arrived: ArrivedCommand): Promise<CommandAnswer> {
  const { store } = deps;
  const { channel, externalId, place, identity, word, argument, message, contents = [] } = arrived;
  if (await deps.wasAnswered(channel, externalId)) return { kind: 'said' };
  const choosesSession = arrived.chosen !== undefined;
  const session = arrived.chosen ?? (choosesSession ? null : await store.read.sessionByKey(identity.key));
  const call = { identity, place, externalId, argument, session, choosesSession, message, contents };
  const outcome = await deps.commands.run(word, call);
  if (outcome.kind === 'send') return outcome;
  const { buttons = [] } = outcome;
  await store.queueMessage({
    outboxId: deps.ids.next('out'),
    channel,
    target: place.target ?? place.chat,
    text: outcome.text,
    buttons: session === null ? buttons : buttons.map((button) => commandButton(session.id, button)),
    // Of no session: it neither waits behind the turn's replies nor takes the place of its draft.
    sessionId: null,
    answers: { channel, externalId },
  });
  deps.poke();
  const { movedTo } = outcome;
  return movedTo === undefined ? { kind: 'said' } : { kind: 'said', movedTo };
}
