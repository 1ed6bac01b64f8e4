/** A gateway for tests of the OpenAI-compatible API: sessions in memory, and turns that the test itself lets happen. */
import { FakeHome, type FakeSession } from '../../../test/support/fake-api.ts';
import { BoundedQueue } from '../../lib/bounded-queue.ts';
import type { SessionEvent } from '../../protocol/events.ts';
import type { InboxId, SessionId, TurnId } from '../../protocol/ids.ts';
import { textOf } from '../../protocol/messages.ts';
import type { AskReceipt, AskRequest, OpenAiPort, TurnFacts } from './port.ts';

const eventsMax = 1_000;

export interface FakeTurn {
  readonly session: FakeSession;
  readonly inboxId: InboxId;
  readonly request: AskRequest;
}

export class FakePort implements OpenAiPort {
  readonly home = new FakeHome();
  readonly requests: AskRequest[] = [];
  readonly stopped: SessionId[] = [];
  readonly closed: SessionId[] = [];
  /** What happens once a new message is stored. */
  onAsk: (turn: FakeTurn) => void = () => {};
  /** Instead of taking a message. */
  instead: Exclude<AskReceipt, { kind: 'accepted' }> | null = null;
  turnFacts: TurnFacts = {
    usage: { inputTokens: 30, cachedTokens: 20, cacheWriteTokens: 0, outputTokens: 7, reasoningTokens: 2 },
  };
  readonly #owners = new Map<SessionId, string>();

  async ask(request: AskRequest): Promise<AskReceipt> {
    this.requests.push(request);
    if (this.instead !== null) return this.instead;
    const { home } = this;
    const known = home.admitted.get(request.externalId);
    if (known !== undefined) return accepted(known.session, known.inboxId, true);
    const session = this.#sessionFor(request);
    const inboxId = home.ids.next('inb');
    home.admitted.set(request.externalId, { inboxId, session, text: textOf(request.message) });
    const receipt = accepted(session, inboxId, false);
    this.onAsk({ session, inboxId, request });
    return receipt;
  }

  #sessionFor({ session: wanted, user }: AskRequest): FakeSession {
    const ref = wanted.kind === 'named' ? wanted.name : wanted.kind === 'existing' ? wanted.id : null;
    const found = ref === null ? null : this.home.session(ref);
    const session = found ?? this.home.create(ref ?? `chat-${this.home.sessions.length + 1}`);
    this.#owners.set(session.id, user);
    return session;
  }

  async externalId(_user: string, inboxId: InboxId): Promise<string | null> {
    for (const [externalId, admitted] of this.home.admitted) if (admitted.inboxId === inboxId) return externalId;
    return null;
  }

  async waiting(user: string, id: SessionId): Promise<InboxId[] | null> {
    const session = this.home.session(id);
    if (session === null || this.#owners.get(id) !== user) return null;
    const begun = new Set(session.entries.map((entry) => ('inboxId' in entry ? entry.inboxId : null)));
    const admitted = [...this.home.admitted.values()].filter((message) => message.session === session);
    return admitted.map(({ inboxId }) => inboxId).filter((inboxId) => !begun.has(inboxId));
  }

  async *follow(sessionId: SessionId, after: number, signal: AbortSignal): AsyncGenerator<SessionEvent> {
    const session = this.home.session(sessionId);
    if (session === null) return;
    const stream = new BoundedQueue<SessionEvent>(eventsMax);
    const close = () => stream.close();
    session.streams.add(stream);
    signal.addEventListener('abort', close, { once: true });
    try {
      for (const entry of session.entries.slice(after)) yield { kind: 'entry', entry };
      yield { kind: 'live-state', turn: session.live };
      if (!signal.aborted) yield* stream;
    } finally {
      session.streams.delete(stream);
      signal.removeEventListener('abort', close);
    }
  }

  async stop(sessionId: SessionId): Promise<void> {
    this.stopped.push(sessionId);
  }

  async close(sessionId: SessionId): Promise<void> {
    this.closed.push(sessionId);
  }

  async models(): Promise<{ id: string; ownedBy: string }[]> {
    return [{ id: 'offline/rehearsal', ownedBy: 'offline' }];
  }

  async facts(): Promise<TurnFacts> {
    return this.turnFacts;
  }

  /** Pieces of a draft, as a model writes them. */
  write(session: FakeSession, turnId: TurnId, ...pieces: string[]): void {
    for (const text of pieces) this.home.show(session, { kind: 'text-delta', turnId, text });
  }

  /** A draft becomes a message. */
  say(session: FakeSession, turnId: TurnId, text: string): void {
    this.home.show(session, { kind: 'draft-cleared', turnId });
    this.home.say(session, turnId, text);
  }

  /** Answers every message at once with what `reply` makes of its text. */
  answerAll(reply: (text: string) => string): void {
    this.onAsk = ({ session, inboxId, request }) => {
      const turnId = this.home.openTurn(session, inboxId);
      this.say(session, turnId, reply(textOf(request.message)));
      this.home.close(session, turnId, 'answered');
    };
  }
}

function accepted(session: FakeSession, inboxId: InboxId, duplicate: boolean): AskReceipt {
  const afterSeq = duplicate ? 0 : session.entries.length;
  return { kind: 'accepted', sessionId: session.id, sessionName: session.name, inboxId, duplicate, afterSeq };
}
