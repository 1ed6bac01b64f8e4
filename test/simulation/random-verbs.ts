/**
 * Verbs chosen by dice, for telling whether two stores are the same store: mostly such as fit what one of them holds,
 * some that don't.
 */
import { countingIdSource } from '../../src/lib/ids.ts';
import type { CallId, InboxId, OutboxId, SessionId, TurnId } from '../../src/protocol/ids.ts';
import type { CompressionStep } from '../../src/protocol/messages.ts';
import type { ModelCallRecord } from '../../src/protocol/usage.ts';
import {
  assistantCalls,
  assistantText,
  modelCallEnded,
  modelCallStarted,
  someUsage,
  toolResult,
  userText,
} from '../../src/store/fake-conversation.ts';
import type {
  JournalSlice,
  Lease,
  PlannedCall,
  PromptStep,
  PromptTrail,
  Reply,
  SessionWrite,
  Store,
} from '../../src/store/store.ts';
import type { Dice } from './dice.ts';

export interface Deed {
  readonly name: string;
  readonly perform: (store: Store) => Promise<unknown>;
}

/** What a session holds at the moment, as far as choosing a write depends on it. */
interface Situation {
  readonly journal: JournalSlice;
  readonly newestCall: ModelCallRecord | undefined;
  readonly runtime: string;
  readonly trail: PromptTrail | null;
}

const chats = ['a', 'b'] as const;
const channels = ['web', 'telegram'] as const;
const owners = ['owner', 'telegram:7'] as const;
const users = ['ada', 'bob', 'cy', 'dan'] as const;
const leaseTtlMs = 5_000;
const pairingLimits = { pendingMax: 2, wrongMax: 3, lockMs: 500 };

export class RandomVerbs {
  readonly #dice: Dice;
  readonly #ids = countingIdSource();
  readonly #owners = [this.#ids.next('nod'), this.#ids.next('nod')] as const;
  readonly sessions: SessionId[] = chats.map(() => this.#ids.next('ses'));
  readonly turns: TurnId[] = [this.#ids.next('trn')];
  readonly inbox: InboxId[] = [this.#ids.next('inb')];
  readonly outbox: OutboxId[] = [this.#ids.next('out')];
  readonly #leases = new Map<SessionId, Lease>();
  #messages = 0;

  constructor(dice: Dice) {
    this.#dice = dice;
  }

  async next(store: Store, now: number): Promise<Deed> {
    const dice = this.#dice;
    // Mostly one of the two that are talked in; those that were closed, and the copies, are there to be left alone.
    const talkedIn = await store.read.sessionByKey(dice.pick(chats));
    const id = talkedIn !== null && dice.chance(0.85) ? talkedIn.id : dice.pick(this.sessions);
    const name = dice.weighted({
      admit: 8,
      acquire: 5,
      release: 1,
      commit: 40,
      keys: 2,
      whole: 2,
      direct: 3,
      deliver: 6,
      people: 8,
    });
    switch (name) {
      case 'admit':
        return this.#admit(id);
      case 'acquire':
        return this.#acquire(id);
      case 'release':
        return this.#underLease(id, name, (at, lease) => at.releaseLease(lease));
      case 'commit': {
        const situation = await this.#situation(store, id);
        const writes = situation === null ? [] : [this.#write(situation)];
        // A second one makes the first one's rollback seen.
        if (situation !== null && dice.chance(0.1)) writes.push(this.#misfit());
        return this.#underLease(id, JSON.stringify(writes), (at, lease) => at.commit(lease, writes));
      }
      case 'keys':
        return this.#keys();
      case 'whole':
        return this.#whole(store, id);
      case 'direct':
        return this.#direct(id);
      case 'deliver':
        return this.#deliver();
      case 'people':
        return this.#people(now);
    }
  }

  async #situation({ read }: Store, id: SessionId): Promise<Situation | null> {
    const journal = await read.journal(id, 0);
    if (journal === null) return null;
    const runtime = this.#dice.pick(['one', 'two']);
    const [newestCall, trail] = [(await read.modelCalls(id)).at(-1), await read.promptTrail(id, runtime)];
    return { journal, newestCall, runtime, trail };
  }

  #underLease(id: SessionId, name: string, act: (store: Store, lease: Lease) => Promise<unknown>): Deed {
    const lease = this.#leases.get(id) ?? { sessionId: id, owner: this.#owners[0], token: 1 };
    return { name, perform: (store) => act(store, lease) };
  }

  #acquire(id: SessionId): Deed {
    const owner = this.#dice.chance(0.8) ? this.#owners[0] : this.#owners[1];
    const perform = async (store: Store) => {
      const lease = await store.acquireLease(id, owner, leaseTtlMs);
      if (lease !== null) this.#leases.set(id, lease);
      return lease;
    };
    return { name: `acquire ${id} for ${owner}`, perform };
  }

  #admit(known: SessionId): Deed {
    const dice = this.#dice;
    const chat = dice.pick(chats);
    const id = dice.chance(0.7) ? known : this.#newSession();
    const inboxId = this.#ids.next('inb');
    this.inbox.push(inboxId);
    this.#messages += dice.chance(0.9) ? 1 : 0;
    const sha256 = dice.pick(['x', 'y', 'z']);
    const admission = {
      inboxId,
      channel: dice.pick(channels),
      externalId: String(this.#messages),
      sender: dice.pick(['ada', 'bob']),
      message: userText(`message ${this.#messages}`),
      contents: dice.chance(0.3) ? [{ sha256, bytes: Buffer.from(sha256) }] : [],
      target: chat,
      session: dice.chance(0.9)
        ? ({ kind: 'by-key', key: chat, id, name: chat, owner: dice.pick(owners) } as const)
        : ({ kind: 'existing', id } as const),
      title: dice.pick(['', `about ${this.#messages}`]),
      waitingMax: 3,
    };
    return { name: JSON.stringify(admission), perform: (store) => store.admit(admission) };
  }

  #keys(): Deed {
    const [keyId, until] = [this.#dice.pick(['k', 'l']), this.#dice.between(1, 100)];
    if (this.#dice.chance(0.3)) return { name: `wake ${keyId}`, perform: (store) => store.wakeKey('p', keyId) };
    const rest = { provider: 'p', keyId, reason: `until ${until}`, until };
    return { name: JSON.stringify(rest), perform: (store) => store.restKey(rest) };
  }

  #newSession(): SessionId {
    const id = this.#ids.next('ses');
    this.sessions.push(id);
    return id;
  }

  #newOutboxId(): OutboxId {
    // One that was used before must not fit.
    if (this.#dice.chance(0.05)) return this.#dice.pick(this.outbox);
    const id = this.#ids.next('out');
    this.outbox.push(id);
    return id;
  }

  #reply(): Reply {
    const dice = this.#dice;
    const [channel, target] = [dice.pick(channels), dice.pick(chats)];
    const buttons = dice.chance(0.2) ? [{ label: 'Yes', value: '/new yes' }] : [];
    return { outboxId: this.#newOutboxId(), channel, target, text: `text ${dice.between(1, 99)}`, buttons };
  }

  #direct(id: SessionId): Deed {
    const dice = this.#dice;
    if (dice.chance(0.4)) {
      const place = { channel: dice.pick(channels), target: dice.pick(chats), platformId: String(dice.between(1, 99)) };
      const draft = dice.chance(0.8) ? place : null;
      return { name: `draft ${id} ${JSON.stringify(draft)}`, perform: (store) => store.noteDraft(id, draft) };
    }
    const answers = { channel: dice.pick(channels), externalId: String(dice.between(1, 5)) };
    const message = {
      ...this.#reply(),
      sessionId: dice.chance(0.5) ? id : null,
      answers: dice.chance(0.5) ? answers : null,
    };
    return { name: JSON.stringify(message), perform: (store) => store.queueMessage(message) };
  }

  #deliver(): Deed {
    const dice = this.#dice;
    const id = dice.pick(this.outbox.slice(-6));
    const platformId = dice.pick(['p', null]);
    const named = dice.chance(0.6) ? undefined : dice.pick([['web'], channels]);
    const name = dice.weighted({ claim: 3, part: 1.5, sent: 1.5, failed: 0.5, retry: 1 });
    const retry = { kind: 'retry', notBefore: dice.between(0, 1), maybeSent: dice.chance(0.5), error: 'x' } as const;
    const performs: Record<typeof name, Deed['perform']> = {
      claim: (store) => store.claimDeliveries(this.#owners[0], 3, named),
      part: (store) => store.recordPartSent(id, platformId),
      sent: (store) => store.settleDelivery(id, { kind: 'sent', platformId }),
      failed: (store) => store.settleDelivery(id, { kind: 'failed', error: 'x' }),
      retry: (store) => store.settleDelivery(id, retry),
    };
    return { name: `${name} ${id}`, perform: performs[name] };
  }

  #people(now: number): Deed {
    const dice = this.#dice;
    const [channel, userId, role] = [dice.pick(channels), dice.pick(users), dice.pick(['owner', 'user'] as const)];
    const who = { channel, userId, name: `${userId} ${dice.between(1, 9)}` };
    const codeHash = `${channel} ${userId}`;
    const request = { ...who, createdAt: now, expiresAt: now + dice.between(1, 20_000), codeHash };
    const key = { name: userId, sha256: String(dice.between(1, 99)) };
    const name = dice.weighted({
      ask: 5,
      approve: 5,
      add: 1,
      remove: 1,
      refuse: 2,
      key: 1,
      unkey: 1,
      grant: 1,
      revoke: 0.5,
    });
    const sessionId = dice.chance(0.5) ? null : dice.pick(this.sessions);
    const [grant, grantId] = [{ sessionId, kind: 'command', subject: userId, shown: who.name }, dice.between(1, 9)];
    const performs: Record<typeof name, Deed['perform']> = {
      ask: (store) => store.requestPairing(request, pairingLimits),
      approve: (store) => store.approvePairing(codeHash, role, pairingLimits),
      add: (store) => store.addPerson({ ...who, role }),
      remove: (store) => store.removePerson(channel, userId),
      refuse: (store) => store.recordRefusal(who),
      key: (store) => store.addApiKey(key),
      unkey: (store) => store.removeApiKey(userId),
      grant: (store) => store.addGrant(grant),
      revoke: (store) => store.removeGrant(grantId),
    };
    return { name: `${name} ${JSON.stringify(request)} ${role}`, perform: performs[name] };
  }

  async #whole(on: Store, id: SessionId): Promise<Deed> {
    const dice = this.#dice;
    const name = dice.weighted({ stop: 2, settings: 2, retry: 3, drop: 2, remove: 0.5, close: 2, reopen: 2, copy: 1 });
    const key = dice.pick([...chats, 'elsewhere']);
    const journal = name === 'copy' ? await on.read.journal(id, 0) : null;
    const copied = name === 'copy' ? this.#newSession() : id;
    const portable = journal === null ? null : { ...journal.session, name: copied, entries: journal.entries };
    const owner = dice.pick(owners);
    const settings = { model: dice.pick(['m', null]), effort: dice.pick(['low', null] as const) };
    const performs: Record<typeof name, Deed['perform']> = {
      stop: (store) => store.requestStop(id),
      settings: (store) => store.changeSettings(id, settings),
      retry: (store) => store.retryParked(id),
      drop: (store) => store.dropParked(id),
      remove: (store) => store.deleteSession(id),
      close: (store) => store.closeSession(id),
      reopen: (store) => store.reopenSession(id, key),
      copy: async (store) => (portable === null ? null : store.importSession(copied, key, owner, portable)),
    };
    return { name: `${name} ${id} ${key} ${copied}`, perform: performs[name] };
  }

  #write(situation: Situation): SessionWrite {
    const dice = this.#dice;
    if (dice.chance(0.1)) return this.#misfit();
    const { openTurn, unsettledCalls, waiting } = situation.journal;
    if (dice.chance(0.05)) {
      return { verb: 'set-title', title: `title ${dice.between(1, 9)}`, by: dice.pick(['model', 'person'] as const) };
    }
    if (dice.chance(0.05)) return this.#compress(situation.journal);
    if (situation.newestCall?.state === 'started' && dice.chance(0.4)) return this.#endModelCall(situation.newestCall);
    if (openTurn === null) {
      const verb = dice.weighted({ call: 2, open: 7, rewind: 1 });
      if (verb === 'rewind') return this.#rewind(situation.journal);
      return verb === 'call' ? this.#startModelCall(situation) : this.#openTurn(waiting.map(({ id }) => id));
    }
    const turnId = openTurn.id;
    const [call] = unsettledCalls;
    if (call !== undefined) {
      if (call.state === 'started' && dice.chance(0.3)) return this.#ask(turnId, call.id);
      if (call.state !== 'started' && dice.chance(0.6)) return { verb: 'start-call', turnId, callId: call.id };
      return this.#settle(turnId, call.id);
    }
    const verb = dice.weighted({ start: 6, answer: 3, join: waiting.length, close: 1.5 });
    switch (verb) {
      case 'start':
        return this.#startModelCall(situation);
      case 'answer':
        return this.#answer(turnId, situation.newestCall?.id ?? this.#ids.next('mdl'));
      case 'join':
        return { verb: 'join-turn', turnId, promote: waiting.map(({ id }) => id) };
      case 'close': {
        const outcome = dice.pick(['answered', 'failed', 'parked'] as const);
        return { verb: 'close-turn', turnId, outcome, reply: dice.chance(0.6) ? this.#reply() : null };
      }
    }
  }

  /** Mostly to where a turn ended, sometimes to anywhere. */
  #rewind({ entries, session }: JournalSlice): SessionWrite {
    const dice = this.#dice;
    const ends = entries.flatMap((entry) => (entry.kind === 'turn-closed' ? [entry.seq] : []));
    return { verb: 'rewind', toSeq: dice.chance(0.7) ? dice.pick([0, ...ends]) : dice.between(0, session.lastSeq + 1) };
  }

  /** Mostly about places that are there. */
  #compress({ entries, session }: JournalSlice): SessionWrite {
    const dice = this.#dice;
    const place = { channel: dice.pick(channels), target: 't' };
    const headSeq = entries.find((entry) => entry.kind === 'head')?.seq ?? dice.between(0, 2);
    const toSeq = dice.between(0, session.lastSeq + (dice.chance(0.1) ? 1 : 0));
    const done = {
      kind: 'done',
      why: 'person',
      by: 'model',
      preface: '',
      digests: [],
      tokensBefore: 9,
      tokensAfter: 3,
    } as const;
    const keeps = dice.chance(0.3) ? [dice.between(0, session.lastSeq)] : [];
    const step = dice.pick<CompressionStep>([
      { kind: 'asked', why: 'person', topic: 'cats', place },
      { kind: 'begun' },
      { kind: 'declined', tokens: 7 },
      { ...done, headSeq, toSeq, keeps, summary: toSeq === 0 || dice.chance(0.05) ? '' : 'told' },
    ]);
    return { verb: 'compress', step, ...(dice.chance(0.3) ? { reply: this.#reply() } : {}) };
  }

  #ask(turnId: TurnId, callId: CallId): SessionWrite {
    const question = { text: 'Shall I?', choices: ['yes', 'no'], deadline: this.#dice.between(1, 99) };
    return { verb: 'ask', turnId, callId, question, reply: this.#dice.chance(0.7) ? this.#reply() : null };
  }

  /** Now and then it sends a file, and now and then one that nobody has. */
  #settle(turnId: TurnId, callId: CallId): SessionWrite {
    const dice = this.#dice;
    const message = toolResult(callId, 'finished', 'done');
    if (dice.chance(0.6)) return { verb: 'settle-call', turnId, callId, message };
    const [kept, sent] = [dice.pick(['x', 'y', 'z']), dice.pick(['x', 'y', 'z'])];
    const contents = dice.chance(0.8) ? [{ sha256: kept, bytes: Buffer.from(kept) }] : [];
    const file = { name: 'a', content: { sha256: dice.chance(0.7) ? kept : sent, bytes: 1, mediaType: 'text/plain' } };
    const images = dice.chance(0.5) ? { images: [file.content] } : {};
    const [part] = message.parts;
    return {
      verb: 'settle-call',
      turnId,
      callId,
      message: { role: 'tool', parts: [{ ...part, ...images, files: [file] }] },
      contents,
      replies: Array.from({ length: dice.between(0, 2) }, () => ({ ...this.#reply(), file })),
    };
  }

  #openTurn(promote: readonly InboxId[]): SessionWrite {
    const turnId = this.#ids.next('trn');
    this.turns.push(turnId);
    return { verb: 'open-turn', turnId, promote };
  }

  #endModelCall({ id }: ModelCallRecord): SessionWrite {
    const outcome = this.#dice.pick(['completed', 'failed', 'cancelled'] as const);
    const usage = this.#dice.pick([someUsage, { ...someUsage, usd: null }, null]);
    return modelCallEnded(id, { usage, outcome, error: outcome === 'failed' ? 'no' : null });
  }

  #answer(turnId: TurnId, modelCallId: ModelCallRecord['id']): SessionWrite {
    const calls = Array.from({ length: this.#dice.between(0, 2) }, (): PlannedCall => {
      return { id: this.#ids.next('cal'), name: 'look', arguments: '{}', effect: 'read', replay: 'safe' };
    });
    const message = calls.length === 0 ? assistantText('yes') : assistantCalls(calls);
    return { verb: 'append-answer', turnId, modelCallId, message, calls };
  }

  #startModelCall({ journal, runtime, trail }: Situation): SessionWrite {
    const dice = this.#dice;
    const before = trail?.units.length ?? 0;
    const kept = dice.chance(0.6) ? before : dice.between(0, before);
    const isWhole = trail !== null && kept === before;
    const prompt: PromptStep = {
      runtime,
      kept,
      added: Array.from({ length: dice.between(0, 2) }, () => String(dice.between(0, 99))),
      prefixBreak: isWhole ? null : dice.pick(['compressed', 'unexplained'] as const),
      headSeq: dice.between(1, 3),
      effort: dice.pick(['high', null] as const),
    };
    return modelCallStarted(dice.chance(0.8) ? (journal.openTurn?.id ?? null) : null, this.#ids.next('mdl'), {
      prompt,
      day: dice.pick(['2026-01-01', '2026-01-02']),
      purpose: dice.pick(['answer', 'title'] as const),
      reservedUsd: dice.pick([null, 0.25, 1]),
      budget: { sessionUsd: dice.pick([0, 0, 4]), dayUsd: dice.pick([0, 0, 8]) },
    });
  }

  /** Of a turn that is hardly the right one, with messages that hardly wait. */
  #misfit(): SessionWrite {
    const dice = this.#dice;
    const turnId = dice.pick(this.turns);
    const promote = [dice.pick(this.inbox)];
    return dice.pick<SessionWrite>([
      { verb: 'join-turn', turnId, promote },
      { verb: 'open-turn', turnId, promote },
      { verb: 'notice', turnId, text: 'a word' },
      { verb: 'close-turn', turnId, outcome: 'answered', reply: null },
      { verb: 'append-nudge', turnId, message: userText('go on') },
      { verb: 'rewind', toSeq: dice.between(-1, 9) },
      modelCallEnded(this.#ids.next('mdl')),
      modelCallStarted(turnId, this.#ids.next('mdl')),
    ]);
  }
}
