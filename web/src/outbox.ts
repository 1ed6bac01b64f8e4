/**
 * Messages on their way. Each keeps the id it was given at first through every retry, so that none arrives twice;
 * those of one session go one after another, so that none overtakes. What was not acknowledged survives a reload of the
 * page, and a key that has to be asked for first.
 */
import { ApiError, type SayReceipt, type SendRequest } from '../../src/protocol/api.ts';
import type { InboxId } from '../../src/protocol/ids.ts';
import type { Item } from './items.ts';

const attemptsMax = 12;
const firstRetryMs = 500;
const retryMaxMs = 10_000;

export interface PendingMessage {
  readonly externalId: string;
  /** Null until the new session it starts has a name. */
  readonly session: string | null;
  readonly text: string;
  /** The last entry that was known when it was sent: its own comes later. */
  readonly afterSeq: number;
  readonly state:
    | { readonly kind: 'sending' }
    | { readonly kind: 'accepted'; readonly inboxId: InboxId }
    | { readonly kind: 'failed'; readonly problem: string };
}

export interface OutboxDeps {
  readonly send: (request: SendRequest) => Promise<SayReceipt>;
  readonly newId: () => string;
  readonly wait: (delayMs: number) => Promise<void>;
  /** What is written here is read back by the next `createOutbox` in this tab. */
  readonly storage: { read(): string | null; write(text: string): void };
  readonly onChange: (pending: readonly PendingMessage[]) => void;
  readonly onReceipt: (message: PendingMessage, receipt: SayReceipt) => void;
  /** The gateway wants a key; the messages wait for `resume`. */
  readonly onUnauthorized: () => void;
}

export interface Outbox {
  send(session: string | null, text: string, afterSeq: number): void;
  /** Sends a failed message again, under its old id. */
  retry(externalId: string): void;
  remove(externalIds: readonly string[]): void;
  resume(): void;
}

export function createOutbox(deps: OutboxDeps): Outbox {
  let pending: readonly PendingMessage[] = readStored(deps.storage.read());
  const lanes = new Map<string | null, Promise<void>>();
  const held = new Set<string>();

  const change = (next: readonly PendingMessage[]) => {
    pending = next;
    deps.storage.write(JSON.stringify(pending.filter(({ state }) => state.kind !== 'accepted')));
    deps.onChange(pending);
  };
  const update = (externalId: string, changes: Partial<PendingMessage>) =>
    change(pending.map((message) => (message.externalId === externalId ? { ...message, ...changes } : message)));

  const attempt = async (message: PendingMessage) => {
    const { externalId, session, text } = message;
    for (let failed = 0; ; failed++) {
      try {
        const receipt = await deps.send({ session, text, externalId, channel: 'web' });
        // A command is done with; what it says comes with the log, or with the receipt.
        if (receipt.kind === 'command') change(pending.filter((other) => other.externalId !== externalId));
        else {
          update(externalId, {
            session: receipt.sessionName,
            state: { kind: 'accepted', inboxId: receipt.inboxId },
          });
        }
        deps.onReceipt(message, receipt);
        return;
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        if (error.reason === 'unauthorized') {
          held.add(externalId);
          deps.onUnauthorized();
          return;
        }
        const isWorthRetrying = error.reason === 'unreachable' || error.reason === 'draining';
        if (!isWorthRetrying || failed + 1 >= attemptsMax) {
          update(externalId, { state: { kind: 'failed', problem: error.message } });
          return;
        }
      }
      await deps.wait(Math.min(retryMaxMs, firstRetryMs * 2 ** failed));
    }
  };

  const enqueue = (message: PendingMessage) => {
    const lane = (lanes.get(message.session) ?? Promise.resolve()).then(() => attempt(message));
    lanes.set(message.session, lane);
  };

  deps.onChange(pending);
  for (const message of pending) if (message.state.kind === 'sending') enqueue(message);
  return {
    send(session, text, afterSeq) {
      const message: PendingMessage = { externalId: deps.newId(), session, text, afterSeq, state: { kind: 'sending' } };
      change([...pending, message]);
      enqueue(message);
    },
    retry(externalId) {
      const message = pending.find((other) => other.externalId === externalId);
      if (message?.state.kind !== 'failed') return;
      update(externalId, { state: { kind: 'sending' } });
      enqueue(message);
    },
    resume() {
      const waiting = pending.filter(({ externalId }) => held.delete(externalId));
      for (const message of waiting) enqueue(message);
    },
    remove(externalIds) {
      if (externalIds.length > 0) change(pending.filter((message) => !externalIds.includes(message.externalId)));
    },
  };
}

/**
 * Those that have no entry among the items yet. The entry may overtake the receipt that would name it; then the same
 * text after the moment of sending is the message.
 */
export function withoutStored(pending: readonly PendingMessage[], items: readonly Item[]): readonly PendingMessage[] {
  if (pending.length === 0) return pending;
  const stored = items.filter((item) => item.kind === 'user');
  const known = new Set(pending.map(({ state }) => (state.kind === 'accepted' ? state.inboxId : null)));
  const unclaimed = stored.filter((item) => !known.has(item.inboxId));
  return pending.filter(({ state, text, afterSeq }) => {
    if (state.kind === 'accepted') return !stored.some((item) => item.inboxId === state.inboxId);
    const index = unclaimed.findIndex((item) => item.seq > afterSeq && item.text === text);
    if (index === -1 || state.kind === 'failed') return true;
    unclaimed.splice(index, 1);
    return false;
  });
}

function readStored(text: string | null): readonly PendingMessage[] {
  return text === null ? [] : (JSON.parse(text) as readonly PendingMessage[]);
}
