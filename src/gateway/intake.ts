/**
 * The only way in. Checks a message, finds its session, and stores it; only then is it accepted. Idempotent by
 * channel and external id. Leaves the answering to the drain.
 */
import type { InboundMessage, Receipt } from '../channels/channel.ts';
import type { IdSource } from '../lib/ids.ts';
import { messageBytesMax, waitingMessagesMax } from '../protocol/api.ts';
import type { SessionId } from '../protocol/ids.ts';
import { textOf, type UserMessage } from '../protocol/messages.ts';
import type { Admission, SessionRecord, Store } from '../store/store.ts';
import { sessionKeyOf } from './route-session.ts';

const titleCharsMax = 60;

export interface IntakeDeps {
  readonly mayWrite: (message: InboundMessage) => boolean;
  readonly store: Store;
  readonly ids: IdSource;
  readonly wake: (sessionId: SessionId) => void;
  /** What to do first when a message has arrived in the middle of a turn. */
  readonly beforeJoining: (sessionId: SessionId) => Promise<void>;
}

export interface Intake {
  /** `into` names the session, where the channel lets its user choose one. */
  receive(message: InboundMessage, into?: { existing: SessionId } | { name: string }): Promise<IntakeReceipt>;
  /** From now on everything is refused. */
  close(): void;
}

export type IntakeReceipt =
  | (Extract<Receipt, { kind: 'accepted' }> & { readonly session: SessionRecord })
  | Extract<Receipt, { kind: 'refused' }>;

export function createIntake(deps: IntakeDeps): Intake {
  let closed = false;
  return {
    async receive(inbound, into) {
      const message = wellFormed(inbound.message);
      const refusal = closed ? draining : problemWith(deps, inbound, message);
      if (refusal !== null) return refusal;

      const inboxId = deps.ids.next('inb');
      const { channel, externalId, place } = inbound;
      const result = await deps.store.admit({
        inboxId,
        channel,
        externalId,
        sender: inbound.sender.id,
        message,
        contents: inbound.contents ?? [],
        target: place.chat,
        session: admissionTo(deps, inbound, into),
        title: titleFrom(textOf(message)),
        waitingMax: waitingMessagesMax,
      });
      if (result.kind === 'refused') return result.reason === 'queue-full' ? queueFull : gone;
      const { session } = result;
      if (session.turn === 'open' && result.kind === 'admitted') await deps.beforeJoining(session.id);
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
    },
    close() {
      closed = true;
    },
  };
}

function admissionTo(
  deps: IntakeDeps,
  inbound: InboundMessage,
  into: Parameters<Intake['receive']>[1],
): Admission['session'] {
  if (into !== undefined && 'existing' in into) return { kind: 'existing', id: into.existing };
  const id = deps.ids.next('ses');
  return { kind: 'by-key', key: sessionKeyOf(inbound), id, name: into?.name ?? `chat-${id.slice(-6)}` };
}

type Refusal = Extract<Receipt, { kind: 'refused' }>;
const draining: Refusal = {
  kind: 'refused',
  reason: 'draining',
  text: 'Talaria is stopping; send it again in a moment.',
};
const gone: Refusal = { kind: 'refused', reason: 'not-allowed', text: 'This session does not exist any more.' };
const queueFull: Refusal = {
  kind: 'refused',
  reason: 'queue-full',
  text: `${waitingMessagesMax} messages are waiting in this session already; send this one again when they are answered.`,
};

function problemWith({ mayWrite }: IntakeDeps, inbound: InboundMessage, message: UserMessage): Refusal | null {
  if (!mayWrite(inbound)) return { kind: 'refused', reason: 'not-allowed', text: 'You are not allowed to write here.' };
  const text = textOf(message);
  if (text.trim() === '' && message.parts.every((part) => part.kind === 'text')) {
    return { kind: 'refused', reason: 'empty', text: 'The message is empty.' };
  }
  const bytes = Buffer.byteLength(text);
  if (bytes <= messageBytesMax) return null;
  const size = `${(bytes / 1e6).toFixed(1)} MB; the limit is ${messageBytesMax / 1e6} MB`;
  const advice = 'Put it into a file in the workspace and ask for that to be read.';
  return { kind: 'refused', reason: 'too-large', text: `The message has ${size}. ${advice}` };
}

/** Half a character can't be stored or sent; it becomes the replacement character. NUL has no meaning in a message. */
function wellFormed(message: UserMessage): UserMessage {
  const parts = message.parts.map((part) =>
    part.kind === 'text' ? { ...part, text: part.text.toWellFormed().replaceAll('\0', '\uFFFD') } : part,
  );
  return { ...message, parts };
}

/** The first words, on one line. */
function titleFrom(text: string): string {
  const line = text.slice(0, 400).replaceAll(/\s+/g, ' ').trim();
  if (line.length <= titleCharsMax) return line;
  const cut = line.slice(0, titleCharsMax);
  const lastSpace = cut.lastIndexOf(' ');
  return `${(lastSpace > titleCharsMax / 2 ? cut.slice(0, lastSpace) : cut).toWellFormed()}…`;
}
