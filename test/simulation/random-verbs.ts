/**
 * Verbs chosen by dice, for telling whether two stores are the same store: mostly such as fit what one of them holds,
 * some that don't.
 */
import { countingIdSource } from '../../src/lib/ids.ts';
import type { InboxId, SessionId, TurnId } from '../../src/protocol/ids.ts';
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
import type { JournalSlice, Lease, PlannedCall, PromptStep, PromptTrail, SessionWrite } from '../../src/store/store.ts';
import type { Store } from '../../src/store/store.ts';
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
const leaseTtlMs = 5_000;

export class RandomVerbs {
  readonly #dice: Dice;
  readonly #ids = countingIdSource();
  readonly #owners = [this.#ids.next('nod'), this.#ids.next('nod')] as const;
  readonly sessions: SessionId[] = chats.map(() => this.#ids.next('ses'));
  readonly turns: TurnId[] = [this.#ids.next('trn')];
  readonly inbox: InboxId[] = [this.#ids.next('inb')];
  readonly #leases = new Map<SessionId, Lease>();
  #messages = 0;

  constructor(dice: Dice) {
    this.#dice = dice;
  }

  async next(store: Store): Promise<Deed> {
    const dice = this.#dice;
    const id = dice.pick(this.sessions);
    const name = dice.weighted({ admit: 8, acquire: 5, release: 1, commit: 40, keys: 2, whole: 1.5 });
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
        return this.#whole(id);
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

  #admit(id: SessionId): Deed {
    const dice = this.#dice;
    const chat = chats[this.sessions.indexOf(id)] ?? chats[0];
    const inboxId = this.#ids.next('inb');
    this.inbox.push(inboxId);
    this.#messages += dice.chance(0.9) ? 1 : 0;
    const sha256 = dice.pick(['x', 'y', 'z']);
    const admission = {
      inboxId,
      channel: dice.pick(['web', 'telegram']),
      externalId: String(this.#messages),
      sender: dice.pick(['ada', 'bob']),
      message: userText(`message ${this.#messages}`),
      contents: dice.chance(0.3) ? [{ sha256, bytes: Buffer.from(sha256) }] : [],
      target: chat,
      session: { kind: 'by-key', key: chat, id, name: chat } as const,
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

  #whole(id: SessionId): Deed {
    const dice = this.#dice;
    const name = dice.weighted({ stop: 2, settings: 2, retry: 3, drop: 2, remove: 0.5 });
    const settings = { model: dice.pick(['m', null]), effort: dice.pick(['low', null] as const) };
    const performs: Record<typeof name, Deed['perform']> = {
      stop: (store) => store.requestStop(id),
      settings: (store) => store.changeSettings(id, settings),
      retry: (store) => store.retryParked(id),
      drop: (store) => store.dropParked(id),
      remove: (store) => store.deleteSession(id),
    };
    return { name: `${name} ${id}`, perform: performs[name] };
  }

  #write(situation: Situation): SessionWrite {
    const dice = this.#dice;
    if (dice.chance(0.1)) return this.#misfit();
    const { openTurn, unsettledCalls, waiting } = situation.journal;
    if (dice.chance(0.05)) {
      return { verb: 'set-title', title: `title ${dice.between(1, 9)}`, by: dice.pick(['model', 'person'] as const) };
    }
    if (situation.newestCall?.state === 'started' && dice.chance(0.4)) return this.#endModelCall(situation.newestCall);
    if (openTurn === null) {
      return dice.chance(0.2) ? this.#startModelCall(situation) : this.#openTurn(waiting.map(({ id }) => id));
    }
    const turnId = openTurn.id;
    const [call] = unsettledCalls;
    if (call !== undefined) {
      if (call.state === 'planned' && dice.chance(0.6)) return { verb: 'start-call', turnId, callId: call.id };
      return { verb: 'settle-call', turnId, callId: call.id, message: toolResult(call.id, 'finished', 'done') };
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
        return { verb: 'close-turn', turnId, outcome, reply: null };
      }
    }
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
      modelCallEnded(this.#ids.next('mdl')),
      modelCallStarted(turnId, this.#ids.next('mdl')),
    ]);
  }
}
