/**
 * The channel of a front end that reads the session's log: the web page, the terminal. Its platform is the local API. A
 * line as somebody typed it becomes an `InboundMessage`, with the session that they chose; what is delivered and is in no
 * log yet (a command's answer, `talaria send`) is written into the log of the session it is for. What belongs to no
 * session goes to the one who waits for it. A client keeps its line until it has the receipt and sends it again under the
 * same id otherwise, so nothing is lost or doubled.
 */
import { sleep, type Clock } from '../../lib/clock.ts';
import {
  ApiError,
  type ApiErrorReason,
  type PressReceipt,
  type SayReceipt,
  type SendRequest,
} from '../../protocol/api.ts';
import { isId } from '../../lib/ids.ts';
import { sessionNameProblem, type SessionId } from '../../protocol/ids.ts';
import type { Button, Channel, ChannelPort, Delivery, DeliveryOutcome, InboundMessage, Receipt } from '../channel.ts';

/** How long the answer to a command is waited for that was given where no session is. */
const looseAnswerMs = 2_000;

export interface KnownSession {
  readonly id: SessionId;
  readonly name: string;
  readonly lastSeq: number;
  readonly isClosed: boolean;
}

export interface FrontEndDeps {
  readonly name: SendRequest['channel'];
  readonly clock: Clock;
  /** By name or id. */
  readonly find: (ref: string) => Promise<KnownSession | null>;
  /** Writes into a session's log, once for the same id; null if it is not there, `busy` if that can't be done now. */
  readonly write: (
    sessionId: SessionId,
    note: { readonly id: string; readonly text: string; readonly buttons: readonly Button[] },
  ) => Promise<number | 'busy' | null>;
}

export interface FrontEnd {
  /** Resolves once the line is stored or carried out. Throws an `ApiError`. */
  say(request: SendRequest): Promise<SayReceipt>;
  /** A button under something in this session's log. Throws an `ApiError`. */
  press(session: string, value: string, externalId: string): Promise<PressReceipt>;
}

/** Whoever speaks through it has the machine. */
const sender = { id: 'owner', name: 'owner' };

export class FrontEndChannel implements Channel, FrontEnd {
  readonly name: SendRequest['channel'];
  readonly limits = { textCharsMax: null, dedupes: true };
  readonly #deps: FrontEndDeps;
  readonly #underWay = new Set<Promise<unknown>>();
  /** Who waits for the answer to a command that was given where no session is, by its target. */
  readonly #waiting = new Map<string, (text: string) => void>();
  #port: ChannelPort | null = null;

  constructor(deps: FrontEndDeps) {
    this.name = deps.name;
    this.#deps = deps;
  }

  start(port: ChannelPort): Promise<void> {
    this.#port = port;
    return Promise.resolve();
  }

  async stop(): Promise<void> {
    this.#port = null;
    await Promise.allSettled(this.#underWay);
  }

  say(request: SendRequest): Promise<SayReceipt> {
    return this.#during((port) => this.#say(port, request));
  }

  press(session: string, value: string, externalId: string): Promise<PressReceipt> {
    return this.#during(async (port) => {
      const { find } = this.#deps;
      const found = await find(session);
      if (found === null) throw new ApiError('not-found', `There is no session named ${JSON.stringify(session)}.`);
      const { id, name } = found;
      const place = { kind: 'direct', chat: name, target: id } as const;
      const into = { existing: id };
      const { text: word } = await port.press({ channel: this.name, externalId, sender, place, into, value });
      const after = await find(id);
      return { word, session: after === null || after.isClosed ? null : after.name };
    });
  }

  async deliver(delivery: Delivery, signal: AbortSignal): Promise<DeliveryOutcome> {
    if (signal.aborted) return { kind: 'retry', afterMs: 0, error: 'stopped before it began', notSent: true };
    const stopped = Promise.withResolvers<DeliveryOutcome>();
    const stop = () => stopped.resolve({ kind: 'retry', afterMs: 0, error: 'stopped' });
    signal.addEventListener('abort', stop, { once: true });
    try {
      return await Promise.race([this.#deliver(delivery), stopped.promise]);
    } catch (error) {
      return { kind: 'retry', afterMs: 0, error: error instanceof Error ? error.message : String(error) };
    } finally {
      signal.removeEventListener('abort', stop);
    }
  }

  async #deliver({ sessionId, target, text, dedupeId, buttons }: Delivery): Promise<DeliveryOutcome> {
    // What belongs to a session is in its log already.
    if (sessionId !== null) return { kind: 'sent', platformId: null };
    const session = target === '' ? null : await this.#deps.find(target);
    const tell = this.#waiting.get(target);
    if (session === null && tell !== undefined) {
      tell(text);
      return { kind: 'sent', platformId: target };
    }
    const seq = session === null ? null : await this.#deps.write(session.id, { id: dedupeId, text, buttons });
    if (seq === 'busy') return { kind: 'retry', afterMs: 0, error: 'the session is in use elsewhere', notSent: true };
    if (seq === null) return { kind: 'failed', error: `there is no session ${JSON.stringify(target)}` };
    return { kind: 'sent', platformId: String(seq) };
  }

  async #say(port: ChannelPort, request: SendRequest): Promise<SayReceipt> {
    const { session, externalId } = request;
    const existing = session === null ? null : await this.#deps.find(session);
    if (session !== null && existing === null) {
      const problem = isId('ses', session) ? 'There is no such session.' : sessionNameProblem(session);
      if (problem !== null) throw new ApiError('bad-request', problem);
    }
    // A new chat without a name is a place of its own; saying it again must lead to the same place.
    const chat = existing?.name ?? session ?? `new-${externalId}`;
    const target = existing?.id ?? chat;
    const into = existing !== null ? { existing: existing.id } : session !== null ? { name: session } : null;
    const loose = Promise.withResolvers<string | null>();
    if (existing === null) this.#waiting.set(target, loose.resolve);
    try {
      const receipt = await port.receive(this.#inbound(request, { kind: 'direct', chat, target }, into));
      if (receipt.kind === 'handled') {
        const text = existing === null ? await this.#answerOf(loose.promise) : null;
        if (receipt.session === undefined) return { kind: 'command', session: existing?.name ?? session, text };
        return { kind: 'command', session: (await this.#found(receipt.session))?.name ?? null, text };
      }
      if (receipt.kind === 'refused') throw new ApiError(reasonOfRefusal[receipt.reason], receipt.text);
      const { sessionId, inboxId, duplicate } = receipt;
      const sessionName = existing?.name ?? (await this.#found(sessionId))?.name ?? chat;
      const afterSeq = duplicate ? 0 : (existing?.lastSeq ?? 0);
      return { kind: 'message', sessionId, sessionName, inboxId, duplicate, afterSeq };
    } finally {
      this.#waiting.delete(target);
    }
  }

  #inbound(
    { text, externalId }: SendRequest,
    place: InboundMessage['place'],
    into: InboundMessage['into'] | null,
  ): InboundMessage {
    const message = { role: 'user', parts: [{ kind: 'text', text }] } as const;
    const inbound = { channel: this.name, externalId, sender, place, message };
    return into === null || into === undefined ? inbound : { ...inbound, into };
  }

  async #answerOf(answer: Promise<string | null>): Promise<string | null> {
    const over = new AbortController();
    const late = sleep(this.#deps.clock, looseAnswerMs, over.signal).then(
      () => null,
      () => null,
    );
    const text = await Promise.race([answer, late]);
    over.abort();
    return text;
  }

  #found(id: SessionId | null): Promise<KnownSession | null> {
    return id === null ? Promise.resolve(null) : this.#deps.find(id);
  }

  async #during<T>(work: (port: ChannelPort) => Promise<T>): Promise<T> {
    if (this.#port === null) throw new ApiError('draining', 'Talaria is not ready; send it again in a moment.');
    const done = work(this.#port);
    this.#underWay.add(done);
    try {
      return await done;
    } finally {
      this.#underWay.delete(done);
    }
  }
}

const reasonOfRefusal: Record<Extract<Receipt, { kind: 'refused' }>['reason'], ApiErrorReason> = {
  'too-large': 'too-large',
  'queue-full': 'busy',
  'not-allowed': 'forbidden',
  draining: 'draining',
  empty: 'bad-request',
};
