/**
 * The only way in. Finds out who writes, deals with strangers and commands at once, checks a message, finds its session,
 * and stores it; only then is it accepted. Idempotent by channel and external id. Leaves the answering to the drain.
 */
import type { ChannelPort, ChosenSession, InboundMessage, Receipt } from '../channels/channel.ts';
import type { IdSource } from '../lib/ids.ts';
import { messageBytesMax, waitingMessagesMax } from '../protocol/api.ts';
import type { InboxId, SessionId } from '../protocol/ids.ts';
import { textOf, type UserMessage } from '../protocol/messages.ts';
import { titleFrom } from '../protocol/title-words.ts';
import type { Admission, SessionRecord, Store } from '../store/store.ts';
import { answerCommand, type AnswerCommandDeps } from './answer-command.ts';
import { answerInWords, stillWaits } from './answer-in-words.ts';
import type { BusyMode } from './commands/command.ts';
import { parseCommand } from './commands/parse-command.ts';
import { chosenSession } from './chosen-session.ts';
import type { Identify, Identity } from './identity.ts';
import type { Pairing } from './pairing.ts';
import { receivedPath } from './received-path.ts';

/** Pictures and files of one message, together. */
export const contentBytesMax = 20_000_000;

export interface IntakeDeps {
  readonly store: Store;
  readonly ids: IdSource;
  readonly identify: Identify;
  /** Null where strangers are simply refused. */
  readonly pairing: Pick<Pairing, 'turnAway'> | null;
  /** Null where a message is never a command. */
  readonly commands: Omit<AnswerCommandDeps, 'store' | 'ids'> | null;
  /** Whether only what is surely meant for the agent counts, on this channel; by default so. */
  readonly requiresMention?: (channel: string) => boolean;
  /** What a message does that arrives in the middle of a turn. */
  readonly busyMode: (channel: string) => BusyMode;
  readonly wake: (sessionId: SessionId) => void;
  /** Ends the turn under way, so that the message is next. */
  readonly interrupt: (sessionId: SessionId) => Promise<unknown>;
}

export interface Intake {
  /** For the channels of platforms: commands are answered, the place says which session it is. */
  receive(message: InboundMessage): Promise<IntakeReceipt | Extract<Receipt, { kind: 'handled' }>>;
  /** For what is never a command, by whoever has made sure that the chosen session is the sender's. */
  admit(message: InboundMessage, chosen?: AdmitChoice): Promise<IntakeReceipt>;
  /** Whether files that came with this would be taken. */
  mayFetch: ChannelPort['mayFetch'];
  /** From now on everything is refused. */
  close(): void;
}

export interface AdmitChoice {
  readonly into?: ChosenSession;
  /** What it does in the middle of a turn; by default as its channel has it. */
  readonly mode?: BusyMode;
}

export type IntakeReceipt =
  | (Extract<Receipt, { kind: 'accepted' }> & { readonly session: SessionRecord })
  | Extract<Receipt, { kind: 'refused' }>;

export function createIntake(deps: IntakeDeps): Intake {
  let closed = false;
  const isPassedOver = ({ channel, isAddressed = true }: Pick<InboundMessage, 'channel' | 'isAddressed'>) =>
    !isAddressed && (deps.requiresMention?.(channel) ?? true);

  const admit = async (inbound: InboundMessage, identity: Identity, chosen: AdmitChoice): Promise<IntakeReceipt> => {
    const refusal = problemWith(inbound);
    if (refusal !== null) return refusal;
    const inboxId = deps.ids.next('inb');
    const { channel, externalId, place, message } = inbound;
    const result = await deps.store.admit({
      inboxId,
      channel,
      externalId,
      sender: inbound.sender.id,
      message,
      contents: inbound.contents ?? [],
      target: place.target ?? place.chat,
      session: admissionTo(deps, identity, chosen.into),
      title: titleFrom(textOf(message)),
      waitingMax: waitingMessagesMax,
      joins: (chosen.mode ?? deps.busyMode(channel)) === 'steer',
    });
    if (result.kind === 'refused') return result.reason === 'queue-full' ? queueFull : gone;
    const { session } = result;
    const isBusy = session.turn === 'open' && result.kind === 'admitted';
    if (isBusy && (chosen.mode ?? deps.busyMode(channel)) === 'interrupt') await deps.interrupt(session.id);
    // A repeated message is woken too: the first one's process may have died before it could.
    deps.wake(session.id);
    const duplicate = result.kind === 'duplicate';
    return {
      kind: 'accepted',
      sessionId: session.id,
      inboxId: duplicate ? result.record.id : inboxId,
      duplicate,
      session,
    };
  };

  /**
   * A message that comes while the agent waits for a person is what it waits for, if it can be. It is stored first: one
   * that comes again is no answer to what was asked since.
   */
  const admitWords = async (inbound: InboundMessage, identity: Identity, choice: AdmitChoice) => {
    const { store, wake, commands } = deps;
    const session = choice.into === undefined ? await store.read.sessionByKey(identity.key) : null;
    const asked = session === null ? null : await commands?.commands.waitingQuestion(session);
    const question = asked?.question ?? null;
    if (session === null || !asked || question === null) return admit(inbound, identity, choice);
    // What is only handed on is nobody's answer.
    const isOwn = inbound.message.untrusted === undefined;
    const answer = isOwn ? answerInWords(question, textOf(inbound.message).trim()) : null;
    const receipt = await admit(inbound, identity, answer === null ? choice : { ...choice, mode: 'steer' });
    if (receipt.kind !== 'accepted' || !(await isStillWaiting(receipt))) return receipt;
    if (answer === null) await tellWhatWaits(inbound, stillWaits(question));
    else if (await store.answerCall(session.id, asked.id, answer)) wake(session.id);
    return receipt;
  };

  const isStillWaiting = async ({ sessionId, inboxId }: { sessionId: SessionId; inboxId: InboxId }) => {
    const journal = await deps.store.read.journal(sessionId, Number.MAX_SAFE_INTEGER);
    return journal?.openTurn?.stopRequested === false && journal.waiting.some(({ id }) => id === inboxId);
  };

  const tellWhatWaits = async ({ channel, externalId, place }: InboundMessage, text: string) => {
    const target = place.target ?? place.chat;
    const answers = { channel, externalId };
    const outboxId = deps.ids.next('out');
    await deps.store.queueMessage({ outboxId, channel, target, text, buttons: [], sessionId: null, answers });
    deps.commands?.poke();
  };

  return {
    async receive(raw) {
      if (closed) return draining;
      if (isPassedOver(raw)) return handled;
      const identity = await deps.identify(raw);
      if (identity === null) {
        // A stranger who talks in a group has asked for nothing.
        if (raw.isAddressed === false) return handled;
        if (deps.pairing === null) return notAllowed;
        await deps.pairing.turnAway(raw);
        return handled;
      }
      const inbound = { ...raw, message: wellFormed(raw.message) };
      const parsed = deps.commands === null ? null : parseCommand(inbound.message);
      const { into } = inbound;
      const session = await chosenSession(deps.store.read, identity, into);
      if (into !== undefined && 'existing' in into && session === null) return gone;
      const choice = into === undefined ? {} : { into };
      if (deps.commands === null || parsed === null) return admit(inbound, identity, choice);
      if (parsed.kind === 'message') return admitWords({ ...inbound, message: parsed.message }, identity, choice);
      const refusal = problemWith(inbound);
      if (refusal !== null) return refusal;
      const arrived = { ...inbound, ...parsed, identity, chosen: session };
      const answer = await answerCommand({ ...deps, ...deps.commands }, arrived);
      if (answer.kind === 'said') return handledAt(answer.movedTo);
      return admit({ ...inbound, message: answer.message }, identity, { ...choice, mode: answer.mode });
    },
    async admit(raw, chosen = {}) {
      if (closed) return draining;
      const identity = await deps.identify(raw);
      if (identity === null) return notAllowed;
      return admit({ ...raw, message: wellFormed(raw.message) }, identity, chosen);
    },
    mayFetch: async (arrival) => !isPassedOver(arrival) && (await deps.identify(arrival)) !== null,
    close() {
      closed = true;
    },
  };
}

function admissionTo(
  { ids }: IntakeDeps,
  { key, owner }: Identity,
  into: ChosenSession | undefined,
): Admission['session'] {
  if (into !== undefined && 'existing' in into) return { kind: 'existing', id: into.existing };
  const id = ids.next('ses');
  return { kind: 'by-key', key, id, name: into?.name ?? `chat-${id.slice(-6)}`, owner };
}

type Refusal = Extract<Receipt, { kind: 'refused' }>;
const handled = { kind: 'handled' } as const;
const handledAt = (session: SessionRecord | null | undefined) =>
  session === undefined ? handled : ({ ...handled, session: session?.id ?? null } as const);
const draining: Refusal = {
  kind: 'refused',
  reason: 'draining',
  text: 'Talaria is stopping; send it again in a moment.',
};
const notAllowed: Refusal = { kind: 'refused', reason: 'not-allowed', text: 'You are not allowed to write here.' };
const gone: Refusal = { kind: 'refused', reason: 'not-allowed', text: 'This session does not exist any more.' };
const queueFull: Refusal = {
  kind: 'refused',
  reason: 'queue-full',
  text: `${waitingMessagesMax} messages are waiting in this session already; send this one again when they are answered.`,
};

function problemWith({ message, contents = [] }: InboundMessage): Refusal | null {
  const text = textOf(message);
  if (text.trim() === '' && message.parts.every((part) => part.kind === 'text')) {
    return { kind: 'refused', reason: 'empty', text: 'The message is empty.' };
  }
  const advice = 'Put it into a file in the workspace and ask for that to be read.';
  return (
    tooLarge('The message has', Buffer.byteLength(text), messageBytesMax, advice) ??
    tooLarge(
      'The files of this message have',
      contents.reduce((sum, { bytes }) => sum + bytes.byteLength, 0),
      contentBytesMax,
      'Send fewer at a time, or smaller ones.',
    )
  );
}

function tooLarge(what: string, bytes: number, limit: number, advice: string): Refusal | null {
  if (bytes <= limit) return null;
  const size = `${(bytes / 1e6).toFixed(1)} MB; the limit is ${limit / 1e6} MB`;
  return { kind: 'refused', reason: 'too-large', text: `${what} ${size}. ${advice}` };
}

/** Half a character can't be stored or sent; it becomes the replacement character. NUL has no meaning in a message. */
function wellFormed(message: UserMessage): UserMessage {
  const parts = message.parts.map((part) => {
    if (part.kind === 'image') return part;
    if (part.kind === 'file') return { ...part, path: receivedPath(part) };
    return { ...part, text: part.text.toWellFormed().replaceAll('\0', '\uFFFD') };
  });
  return { ...message, parts };
}
