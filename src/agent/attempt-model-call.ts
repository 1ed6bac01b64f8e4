/**
 * One call of one model with one key: compared with the prompt before it, paid for in advance, recorded before it
 * starts, listened to, and returned as what to store. Decides nothing about what comes after a failure.
 */
import { present } from '../lib/assert.ts';
import { localDay } from '../lib/local-day.ts';
import {
  ModelError,
  reasoningOrigin,
  runtimeId,
  type ApiKey,
  type ModelEvent,
  type ModelRequest,
  type PreparedRequest,
  type Runtime,
} from '../models/model.ts';
import type { ModelCallId, TurnId } from '../protocol/ids.ts';
import type { AssistantMessage } from '../protocol/messages.ts';
import { noTokens, type ModelCallRecord, type TokenUsage, type Usage } from '../protocol/usage.ts';
import { StoreError, type PlannedCall, type SessionWrite } from '../store/store.ts';
import { AnswerDraft } from './answer-draft.ts';
import { estimateTokens, priced, reservation } from './call-cost.ts';
import type { Journal } from './journal.ts';
import { promptStep, type PromptNow } from './prefix-guard.ts';
import { promptView } from './prompt-view.ts';
import { lastRewoundSeq } from './rewind.ts';
import { ActionCut, type TurnDeps } from './turn-deps.ts';
import { nameOf } from './turn-models.ts';

/** A model that says nothing for so long is mentioned to the user. */
const quietMs = 8_000;

export interface ModelQuestion {
  readonly journal: Journal;
  readonly turnId: TurnId;
  readonly purpose: 'answer' | 'summarise';
  readonly request: ModelRequest;
}

export type Attempt =
  /** The model spoke: these writes belong together. */
  | { readonly kind: 'spoke'; readonly writes: readonly SessionWrite[] }
  /** Cut short with nothing to keep. */
  | { readonly kind: 'cancelled'; readonly writes: readonly SessionWrite[] }
  | { readonly kind: 'failed'; readonly writes: readonly SessionWrite[]; readonly error: ModelError }
  /** It was not made, and no other one should be: there is no money for it. */
  | { readonly kind: 'refused'; readonly error: ModelError };

export async function attemptModelCall(
  deps: TurnDeps,
  question: ModelQuestion,
  runtime: Runtime,
  key: ApiKey,
  signal: AbortSignal,
): Promise<Attempt> {
  const { turnId } = question;
  const request = runtime.seesImages ? question.request : { ...question.request, contents: new Map() };
  if (runtime.price === null && hasBudget(deps)) return { kind: 'refused', error: unknownPrice(runtime) };
  try {
    const model = await deps.agent.clients.get(runtime);
    const prepared = model.prepare(request);
    const inputTokens = estimateTokens(prepared.units);
    const modelCallId = deps.ids.next('mdl');
    await startCall(deps, question, runtime, prepared, { modelCallId, keyId: key.id, inputTokens });
    const draft = new AnswerDraft({ ...deps, turnId, origin: reasoningOrigin(runtime) });
    const end = await listen(deps, model.stream(prepared, key, signal), { runtime, turnId, draft });
    const heard = { ...noTokens, inputTokens, outputTokens: Math.ceil(draft.chars / 4) };
    const estimate = draft.chars === 0 ? null : priced(heard, null, runtime.price, request.cachePace);
    const ended = (outcome: 'completed' | 'failed' | 'cancelled', usage: Usage | null, error: string | null) =>
      ({ verb: 'end-model-call', modelCallId, outcome, usage, error }) as const;

    if (end.kind === 'end') {
      const usage = priced(end.usage, end.usd, runtime.price, request.cachePace);
      const silence = draft.isSilent() ? silenceOf(end.stop, runtime) : null;
      if (silence !== null) {
        deps.sink({ kind: 'draft-cleared', turnId });
        return { kind: 'failed', writes: [ended('failed', usage, silence.message)], error: silence };
      }
      const message = draft.message();
      const calls = planCalls(deps, message);
      const promptTokens = countedTokens(end.usage);
      const append = { verb: 'append-answer', turnId, modelCallId, message, calls, ...promptTokens } as const;
      const notice = { verb: 'notice', turnId, text: cutNotice(runtime), cause: 'cut-off' } as const;
      const cut: SessionWrite[] = end.stop === 'length' ? [notice] : [];
      return { kind: 'spoke', writes: [ended('completed', usage, null), append, ...cut] };
    }
    if (end.error.reason === 'cancelled') {
      const stopped = signal.reason instanceof ActionCut && signal.reason.why === 'stop';
      const message = stopped ? draft.spokenOnly() : null;
      const writes: SessionWrite[] = [ended('cancelled', estimate, null)];
      if (message === null) return { kind: 'cancelled', writes };
      return { kind: 'spoke', writes: [...writes, { verb: 'append-answer', turnId, modelCallId, message, calls: [] }] };
    }
    deps.sink({ kind: 'draft-cleared', turnId });
    return { kind: 'failed', writes: [ended('failed', estimate, end.error.message)], error: end.error };
  } catch (error) {
    // Thrown before anything was sent: the client can't be built, or there is no money for the call.
    if (error instanceof ModelError) return { kind: 'failed', writes: [], error };
    if (error instanceof StoreError && error.reason === 'over-budget') {
      return { kind: 'refused', error: new ModelError('billing', error.message) };
    }
    throw error;
  }
}

/** The prompt with the answer at its end; thoughts are not sent again. */
function countedTokens({ inputTokens, outputTokens, reasoningTokens }: TokenUsage): { promptTokens?: number } {
  return inputTokens === 0 ? {} : { promptTokens: inputTokens + Math.max(0, outputTokens - reasoningTokens) };
}

interface CallStart {
  readonly modelCallId: ModelCallId;
  readonly keyId: string;
  readonly inputTokens: number;
}

async function startCall(
  deps: TurnDeps,
  question: ModelQuestion,
  runtime: Runtime,
  prepared: PreparedRequest,
  { modelCallId, keyId, inputTokens }: CallStart,
): Promise<void> {
  const { journal, turnId, purpose, request } = question;
  const { budget } = deps.settings;
  const id = runtimeId(runtime);
  const prompt = promptStep(
    {
      runtime: id,
      units: prepared.units,
      settingUnit: prepared.settingUnit,
      ...promptBeginning(journal),
      effort: request.effort,
      wasAnswered: request.messages.some((message) => message.role === 'assistant'),
      wasRewound: await wasRewoundSince(deps, journal, runtime),
    },
    await deps.models.trail(id),
  );
  if (prompt.prefixBreak === 'unexplained') {
    const [unit] = prepared.units.slice(prompt.kept);
    deps.log.error('a prompt does not begin as the one before it did, and nothing explains it', {
      sessionId: journal.session.id,
      runtime: id,
      kept: prompt.kept,
      firstDifferent: unit?.slice(0, 500) ?? '(it is shorter)',
    });
  }
  await deps.commit([
    {
      verb: 'start-model-call',
      modelCallId,
      turnId,
      purpose,
      provider: runtime.provider,
      model: runtime.model,
      keyId,
      prompt,
      day: localDay(deps.clock.now()),
      reservedUsd: reservation(runtime, inputTokens),
      budget,
    },
  ]);
  deps.models.follow(prompt);
}

/** Where the prompt's beginning stands in the log and why it is there: a head, or the newest shortening after it. */
function promptBeginning({ entries }: Journal): Pick<PromptNow, 'headSeq' | 'headReason'> {
  const head = present(
    entries.findLast((entry) => entry.kind === 'head'),
    'the head of a session with a turn',
  );
  const { compressed } = promptView(entries);
  if (compressed === null || compressed.seq < head.seq) return { headSeq: head.seq, headReason: head.reason };
  return { headSeq: compressed.seq, headReason: 'compressed' };
}

/** Whether the newest call of this runtime was before the newest rewind: by the log, because clocks are set back. */
async function wasRewoundSince(deps: TurnDeps, { session, entries }: Journal, runtime: Runtime): Promise<boolean> {
  const rewoundSeq = lastRewoundSeq(entries);
  if (rewoundSeq === 0) return false;
  const calls = await deps.read.modelCalls(session.id);
  const isOfConversation = ({ purpose }: ModelCallRecord) => purpose === 'answer' || purpose === 'summarise';
  const newest = calls.findLast(
    (call) => isOfConversation(call) && call.provider === runtime.provider && call.model === runtime.model,
  );
  if (newest === undefined) return false;
  // A turn that is not among the entries was before all of them; none is open over a rewind.
  const opened = entries.findLast((entry) => entry.kind === 'turn-opened' && entry.turnId === newest.turnId);
  return (opened?.seq ?? 0) < rewoundSeq;
}

type TerminalEvent = Extract<ModelEvent, { kind: 'end' | 'failed' }>;

async function listen(
  deps: TurnDeps,
  stream: AsyncIterable<ModelEvent>,
  { runtime, turnId, draft }: { runtime: Runtime; turnId: TurnId; draft: AnswerDraft },
): Promise<TerminalEvent> {
  let isMentioned = false;
  const mention = () => {
    isMentioned = true;
    deps.sink({ kind: 'status', turnId, text: `Still waiting for ${nameOf(runtime)}.` });
  };
  let cancelMention = deps.clock.setTimer(quietMs, mention);
  try {
    for await (const event of stream) {
      cancelMention();
      if (isMentioned) deps.sink({ kind: 'status', turnId, text: '' });
      isMentioned = false;
      if (event.kind === 'end' || event.kind === 'failed') return event;
      draft.add(event);
      cancelMention = deps.clock.setTimer(quietMs, mention);
    }
  } finally {
    cancelMention();
  }
  // The contract forbids it, but a turn must not hang on a model that breaks it.
  return { kind: 'failed', error: new ModelError('malformed-stream', 'The model stopped in mid-answer.') };
}

/** Tools' declarations are stored with the call, so that a later version of a tool can't change what a crash means. */
function planCalls(deps: TurnDeps, message: AssistantMessage): PlannedCall[] {
  return message.parts
    .filter((part) => part.kind === 'tool-call')
    .map((part) => {
      const tool = deps.agent.tools.get(part.name);
      return {
        id: part.callId,
        name: part.name,
        arguments: part.arguments,
        effect: tool?.effect ?? 'read',
        replay: tool?.replay ?? 'safe',
      };
    });
}

/** Why a model that ended in good order said nothing. */
function silenceOf(stop: Extract<ModelEvent, { kind: 'end' }>['stop'], runtime: Runtime): ModelError {
  const name = nameOf(runtime);
  switch (stop) {
    case 'refused':
      return new ModelError('content-refused', `${name} declined to answer this.`);
    case 'length':
      return new ModelError(
        'bad-request',
        `${name} used up its ${runtime.outputTokensMax} output tokens before it said anything. ` +
          'Raise model.max_output_tokens, or let it think less: /reasoning low',
      );
    case 'answer':
    case 'tool-calls':
      return new ModelError('malformed-stream', `${name} gave an empty answer.`);
  }
}

function hasBudget({ settings }: TurnDeps): boolean {
  return settings.budget.sessionUsd > 0 || settings.budget.dayUsd > 0;
}

function unknownPrice(runtime: Runtime): ModelError {
  const text =
    `There is a budget, but the price of ${nameOf(runtime)} is not known, so it can't be kept. ` +
    'Set model.price, or take the budget away.';
  return new ModelError('billing', text);
}

const cutNotice = (runtime: Runtime) =>
  `The answer was cut off: it reached the longest output of ${runtime.outputTokensMax} tokens. Say "go on" for the rest.`;
