/**
 * One session as a store keeps it, for property tests that live through thousands of them: each method is one commit,
 * and what does not fit what is there is an assertion, as it is a conflict in the store. Nothing is stored, nothing waits.
 */
import { assert, present } from '../lib/assert.ts';
import { countingIdSource } from '../lib/ids.ts';
import type { CallId, InboxId } from '../protocol/ids.ts';
import type {
  CallOutcome,
  CompressionStep,
  Entry,
  EntryBody,
  ToolCallPart,
  TurnOutcome,
  UserMessage,
} from '../protocol/messages.ts';
import type { CallRecord, InboxRecord, SessionRecord, TurnRecord } from '../store/store.ts';
import type { CompressionReason } from './compression-due.ts';
import type { Journal } from './journal.ts';
import { planCompression } from './plan-compression.ts';
import { promptTokens } from './prompt-size.ts';

export type CallForTest = Pick<CallRecord, 'name' | 'arguments' | 'replay'>;

export class TestSession {
  readonly entries: Entry[] = [];
  readonly #ids = countingIdSource();
  readonly #id = this.#ids.next('ses');
  readonly #calls = new Map<CallId, CallRecord>();
  #waiting: InboxRecord[] = [];
  #turn: TurnRecord | null = null;
  #isNamed = false;
  #isCalling = false;

  journal(): Journal {
    const entries = [...this.entries];
    const session: SessionRecord = {
      id: this.#id,
      key: 'cli:direct:x',
      name: 'x',
      title: '',
      titledBy: this.#isNamed ? 'model' : 'words',
      settings: { model: null, effort: null },
      owner: 'owner',
      isClosed: false,
      createdAt: 0,
      updatedAt: 0,
      lastSeq: entries.length,
      messages: 0,
      turn: this.#turn === null ? 'none' : 'open',
    };
    return { session, entries, openTurn: this.#turn, unsettledCalls: this.unsettled(), waiting: [...this.#waiting] };
  }

  unsettled(): CallRecord[] {
    return [...this.#calls.values()].filter((call) => ['planned', 'started', 'waiting'].includes(call.state));
  }

  admit(): void {
    const id = this.#ids.next('inb');
    const message: UserMessage = { role: 'user', parts: [{ kind: 'text', text: id }] };
    const place = {
      sessionId: this.#id,
      channel: 'cli',
      externalId: id,
      sender: 'me',
      target: 't',
      receivedAt: 0,
      joins: null,
    };
    this.#waiting.push({ id, message, state: 'waiting', ...place });
  }

  openTurn(promote: readonly InboxId[]): void {
    assert(this.#turn === null, 'a turn is still open');
    const fresh = { state: 'open', openedAt: 0, crashes: 0, modelCalls: 0, stopRequested: false } as const;
    const firstSeq = this.entries.length + 1;
    this.#turn = { id: this.#ids.next('trn'), sessionId: this.#id, firstSeq, ...fresh };
    this.#append({ kind: 'turn-opened' });
    this.join(promote);
  }

  join(promote: readonly InboxId[]): void {
    for (const id of promote) {
      const record = present(
        this.#waiting.find((candidate) => candidate.id === id),
        'a waiting message',
      );
      this.#waiting = this.#waiting.filter((candidate) => candidate !== record);
      this.#append({ kind: 'message', message: record.message, inboxId: id });
    }
  }

  startModelCall(): void {
    assert(this.unsettled().length === 0, 'a call has no result');
    this.loseModelCall();
    this.#change({ modelCalls: this.#open().modelCalls + 1 });
    this.#isCalling = true;
  }

  /** A call that nobody will end any more came to nothing, and does not count. */
  loseModelCall(): void {
    if (this.#isCalling) this.failModelCall();
  }

  /** Takes a call out of the count again. */
  failModelCall(): void {
    this.#isCalling = false;
    this.#change({ modelCalls: this.#open().modelCalls - 1 });
  }

  answer(text: string, calls: readonly CallForTest[]): void {
    const { id: turnId } = this.#open();
    assert(this.unsettled().length === 0, 'a call has no result');
    this.#isCalling = false;
    const spoken = text === '' ? [] : [{ kind: 'text', text } as const];
    const parts = calls.map(({ name, arguments: written }): ToolCallPart => {
      return { kind: 'tool-call', callId: this.#ids.next('cal'), name, arguments: written };
    });
    const modelCallId = this.#ids.next('mdl');
    this.#append({ kind: 'message', message: { role: 'assistant', parts: [...spoken, ...parts] }, modelCallId });
    for (const [position, call] of calls.entries()) {
      const { callId: id } = present(parts[position], 'the part of a call');
      const planned = { effect: 'write', state: 'planned', question: null, answer: null } as const;
      this.#calls.set(id, { id, turnId, position, ...call, ...planned });
    }
  }

  nudge(): void {
    this.#open();
    const message: UserMessage = { role: 'user', parts: [{ kind: 'text', text: 'sum up' }] };
    this.#append({ kind: 'message', message, inboxId: null });
  }

  startCall(id: CallId): void {
    this.#move(id, ['planned', 'waiting'], { state: 'started' });
  }

  ask(id: CallId, deadline: number): void {
    this.#move(id, ['started'], { state: 'waiting', question: { text: '?', choices: null, deadline }, answer: null });
  }

  answerCall(id: CallId): void {
    this.#move(id, ['waiting'], { answer: 'yes' });
  }

  settle(id: CallId, outcome: CallOutcome, isMistake = false): void {
    this.#move(id, ['planned', 'started', 'waiting'], { state: outcome });
    const mistake = isMistake ? { mistake: true as const } : {};
    const result = { kind: 'tool-result', callId: id, outcome, text: 'r', ...mistake } as const;
    this.#append({ kind: 'message', message: { role: 'tool', parts: [result] } });
  }

  close(outcome: TurnOutcome): void {
    assert(this.unsettled().length === 0, 'a call has no result');
    this.#append({ kind: 'turn-closed', outcome });
    this.#turn = null;
    this.#calls.clear();
  }

  compress(step: CompressionStep): void {
    this.#append({ kind: 'compression', step });
  }

  /** As far as it is worth it, with a summary of one word. */
  shorten(why: CompressionReason): void {
    const bounds = { thresholdTokens: 40, targetRatio: 0.5, protectLastN: 4, isPressed: false };
    const plan = planCompression(this.entries, why, bounds);
    const done = plan.kind === 'digests' ? plan.done : plan.kind === 'summarise' ? plan.finish('told', 'model') : null;
    this.compress(done === null ? { kind: 'declined', tokens: promptTokens(this.entries) } : { kind: 'done', ...done });
  }

  name(): void {
    this.#isNamed = true;
  }

  stop(): void {
    if (this.#turn !== null) this.#change({ stopRequested: true });
  }

  crash(): void {
    if (this.#turn !== null) this.#change({ crashes: this.#turn.crashes + 1 });
  }

  #open(): TurnRecord {
    return present(this.#turn, 'an open turn');
  }

  #change(over: Partial<TurnRecord>): void {
    this.#turn = { ...this.#open(), ...over };
  }

  #move(id: CallId, from: readonly CallRecord['state'][], over: Partial<CallRecord>): void {
    const call = present(this.#calls.get(id), 'a call of the open turn');
    assert(from.includes(call.state), `a call that is ${call.state} can not be ${over.state}`);
    this.#calls.set(id, { ...call, ...over });
  }

  #append(body: EntryBody): void {
    const turnId = body.kind === 'compression' ? null : this.#open().id;
    this.entries.push({ ...body, seq: this.entries.length + 1, at: 0, turnId });
  }
}
