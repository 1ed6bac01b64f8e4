/** For tests of stores: a conversation that makes its own ids and speaks the store's verbs in few words. */
import { present } from '../lib/assert.ts';
import type { IdSource } from '../lib/ids.ts';
import type { CallId, InboxId, ModelCallId, NodeId, SessionId, SessionKey, TurnId } from '../protocol/ids.ts';
import type { AssistantMessage, CallOutcome, ToolMessage, UserMessage } from '../protocol/messages.ts';
import type { Usage } from '../protocol/usage.ts';
import type {
  Admission,
  AdmitResult,
  DirectMessage,
  JournalSlice,
  Lease,
  PlannedCall,
  PromptStep,
  Reply,
  SessionWrite,
  Store,
} from './store.ts';

export const leaseTtlMs = 30_000;

export function userText(text: string): UserMessage {
  return { role: 'user', parts: [{ kind: 'text', text }] };
}

export function assistantText(text: string): AssistantMessage {
  return { role: 'assistant', parts: [{ kind: 'text', text }] };
}

export function assistantCalls(calls: readonly PlannedCall[]): AssistantMessage {
  return {
    role: 'assistant',
    parts: calls.map((call) => ({
      kind: 'tool-call',
      callId: call.id,
      name: call.name,
      arguments: call.arguments,
    })),
  };
}

export function toolResult(callId: CallId, outcome: CallOutcome, text: string): ToolMessage {
  return { role: 'tool', parts: [{ kind: 'tool-result', callId, outcome, text }] };
}

export const someUsage: Usage = {
  inputTokens: 10,
  cachedTokens: 4,
  cacheWriteTokens: 2,
  outputTokens: 3,
  reasoningTokens: 1,
  usd: 0.5,
};

export type StartModelCall = SessionWrite & { verb: 'start-model-call' };
export type EndModelCall = SessionWrite & { verb: 'end-model-call' };

export class FakeConversation {
  readonly store: Store;
  readonly ids: IdSource;
  readonly name: string;
  readonly sessionId: SessionId;
  readonly owner: NodeId;
  #lease: Lease | null = null;

  /** `store` may be a reopened one: the conversation itself holds nothing. */
  constructor(store: Store, ids: IdSource, name: string, owner: NodeId = ids.next('nod')) {
    this.store = store;
    this.ids = ids;
    this.name = name;
    this.sessionId = ids.next('ses');
    this.owner = owner;
  }

  admission(externalId: string, changes: Partial<Admission> = {}): Admission {
    return {
      inboxId: this.ids.next('inb'),
      channel: 'web',
      externalId: `${this.name}/${externalId}`,
      sender: `somebody in ${this.name}`,
      message: userText(externalId),
      contents: [],
      target: `to ${this.name}`,
      session: { kind: 'by-key', key: this.key, id: this.sessionId, name: this.name, owner: 'owner' },
      title: `about ${externalId}`,
      waitingMax: 100,
      ...changes,
    };
  }

  admit(externalId: string, changes: Partial<Admission> = {}): Promise<AdmitResult> {
    return this.store.admit(this.admission(externalId, changes));
  }

  /** Admits it and says under which id. */
  async say(text: string, changes: Partial<Admission> = {}): Promise<InboxId> {
    const admission = this.admission(text, changes);
    const result = await this.store.admit(admission);
    if (result.kind !== 'admitted') throw new Error(`not admitted: ${result.kind}`);
    return admission.inboxId;
  }

  get key(): SessionKey {
    return `web:direct:${this.name}`;
  }

  get lease(): Lease {
    return present(this.#lease, 'the lease');
  }

  async own(): Promise<Lease> {
    this.#lease = await this.store.acquireLease(this.sessionId, this.owner, leaseTtlMs);
    return this.lease;
  }

  async commit(...writes: readonly SessionWrite[]): Promise<void> {
    await this.store.commit(this.lease, writes);
  }

  async journal(afterSeq = 0): Promise<JournalSlice> {
    return present(await this.store.read.journal(this.sessionId, afterSeq), 'the journal');
  }

  /** A message is waiting, the session is owned and its turn is open. */
  async openTurn(text = 'hello', changes: Partial<Admission> = {}): Promise<TurnId> {
    const inboxId = await this.say(text, changes);
    await this.own();
    const turnId = this.ids.next('trn');
    await this.commit({ verb: 'open-turn', turnId, promote: [inboxId] });
    return turnId;
  }

  async startModelCall(turnId: TurnId | null, changes: Partial<StartModelCall> = {}): Promise<ModelCallId> {
    const modelCallId = this.ids.next('mdl');
    await this.commit(modelCallStarted(turnId, modelCallId, changes));
    return modelCallId;
  }

  /** A model call from its start to its end. */
  async callModel(
    turnId: TurnId | null,
    changes: Partial<StartModelCall> = {},
    end: Partial<EndModelCall> = {},
  ): Promise<ModelCallId> {
    const modelCallId = await this.startModelCall(turnId, changes);
    await this.commit(modelCallEnded(modelCallId, end));
    return modelCallId;
  }

  async closeTurn(turnId: TurnId): Promise<void> {
    await this.commit({ verb: 'close-turn', turnId, outcome: 'answered', reply: null });
  }

  /** The model asked for so many calls, and they are planned. */
  async planCalls(turnId: TurnId, count: number): Promise<CallId[]> {
    const modelCallId = await this.startModelCall(turnId);
    const calls = Array.from({ length: count }, (_, index) => this.plannedCall(`{"n":${index}}`));
    await this.commit(
      { verb: 'append-answer', turnId, modelCallId, message: assistantCalls(calls), calls },
      modelCallEnded(modelCallId, { usage: null }),
    );
    return calls.map((call) => call.id);
  }

  plannedCall(argumentText: string): PlannedCall {
    return { id: this.ids.next('cal'), name: 'terminal', arguments: argumentText, effect: 'write', replay: 'never' };
  }

  reply(text: string, changes: Partial<Reply> = {}): Reply {
    return { outboxId: this.ids.next('out'), channel: 'web', target: `to ${this.name}`, text, buttons: [], ...changes };
  }

  /** A message of no turn, in this session unless the changes say otherwise. */
  direct(text: string, changes: Partial<DirectMessage> = {}): DirectMessage {
    return { ...this.reply(text), sessionId: this.sessionId, answers: null, ...changes };
  }

  /** The session's draft, where its replies go. */
  async showDraft(platformId: string): Promise<void> {
    await this.store.noteDraft(this.sessionId, { channel: 'web', target: `to ${this.name}`, platformId });
  }

  /** A whole turn: a message in, an answer out. */
  async exchange(question: string, answer: string): Promise<TurnId> {
    const turnId = await this.openTurn(question);
    const modelCallId = await this.startModelCall(turnId);
    await this.commit(
      { verb: 'append-answer', turnId, modelCallId, message: assistantText(answer), calls: [] },
      { verb: 'end-model-call', modelCallId, outcome: 'completed', usage: someUsage, error: null },
      { verb: 'close-turn', turnId, outcome: 'answered', reply: this.reply(answer) },
    );
    await this.store.releaseLease(this.lease);
    return turnId;
  }
}

export function modelCallStarted(
  turnId: TurnId | null,
  modelCallId: ModelCallId,
  changes: Partial<StartModelCall> = {},
): StartModelCall {
  return {
    verb: 'start-model-call',
    modelCallId,
    turnId,
    purpose: 'answer',
    provider: 'offline',
    model: 'rehearsal',
    keyId: 'key 1',
    // On a runtime of its own: so a prompt fits, whatever prompts there were.
    prompt: firstPrompt(`runtime of ${modelCallId}`, 'system', 'hello'),
    day: '2026-01-01',
    reservedUsd: null,
    budget: { sessionUsd: 0, dayUsd: 0 },
    ...changes,
  };
}

export function modelCallEnded(modelCallId: ModelCallId, changes: Partial<EndModelCall> = {}): EndModelCall {
  return { verb: 'end-model-call', modelCallId, outcome: 'completed', usage: someUsage, error: null, ...changes };
}

export function firstPrompt(runtime: string, ...units: readonly string[]): PromptStep {
  return { runtime, kept: 0, added: units, prefixBreak: 'first-call', headSeq: 1, effort: null };
}
