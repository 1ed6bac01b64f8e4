/**
 * Shortens a session's prompt: results to one line each, and if that is not enough a summary by the model that was chosen
 * for it. What comes of it is one commit, so that a crash leaves the old beginning or the new one. A summariser that
 * fails, can't be paid for or went down with the process twice is done without: a digest by rules serves.
 */
import { ActionCut, type CompressionChoice, type TurnDeps } from './turn-deps.ts';
import type { Runtime } from '../models/model.ts';
import type { CompressedPrompt, CompressionStep } from '../protocol/messages.ts';
import type { Reply, SessionWrite } from '../store/store.ts';
import { compressionState, mayHelpOverflow, overflowsOfTurn, type CompressionReason } from './compression-due.ts';
import { instructionsFor, materialFor, plainSummary, summaryRoom, tidySummary } from './compression-words.ts';
import type { Journal } from './journal.ts';
import { planCompression, type CompressionPlan } from './plan-compression.ts';
import { promptTokens } from './prompt-size.ts';
import { sideCall } from './side-call.ts';

const patienceMs = 120_000;
/** How often a summary is asked for that was cut short by the end of the process, before it is done by rules. */
const askedForMax = 2;
/** And how often in all, before it is left. */
const begunMax = 3;
/** Of the summariser's window; the rest is for what it writes. */
const materialShare = 0.6;
const charsPerToken = 3;
/** A summary has half the prompt at most. */
const summaryCharsPerToken = 2;

const usual: CompressionChoice = { summariser: null, targetRatio: 0.2, protectLastN: 20 };

export async function compress(
  deps: TurnDeps,
  journal: Journal,
  why: CompressionReason,
  signal: AbortSignal,
): Promise<void> {
  const runtime = deps.models.leader(journal.openTurn?.id ?? null);
  const { compressor } = runtime;
  const { asked, begun } = compressionState(journal.entries);
  const end = compressionEnd(deps, journal, asked?.place ?? null);
  const decline = (text: string) => deps.commit(end.declined(text));
  if (compressor === null) return decline('Conversations are not shortened here: compression.enabled is off.');
  const choice = deps.agent.compression ?? usual;
  const plan = planFor(choice, journal, why, compressor.thresholdTokens);
  if (plan.kind === 'too-little') return decline(tooLittle);
  if (plan.kind === 'digests') return deps.commit(end.done(plan.done));
  if (begun >= begunMax) return decline('Shortening the conversation was interrupted several times and is left.');

  const room = Math.min(summaryRoom(compressor.thresholdTokens), plan.tokensBefore * summaryCharsPerToken);
  const summariser = choice.summariser ?? runtime;
  const messages = plan.middle.map(({ message }) => message);
  const redact = choice.redact ?? ((text: string) => text);
  const byRules = () => {
    const done = plan.finish(plainSummary(plan.earlier, messages, redact, room), 'rules');
    return done === null ? end.declined(tooLittle) : end.done(done);
  };
  if (begun >= askedForMax || summariser.apiMode === 'offline') return deps.commit(byRules());

  if (journal.openTurn !== null) {
    deps.sink({ kind: 'status', turnId: journal.openTurn.id, text: 'Shortening the conversation.' });
  }
  const answer = await sideCall(
    deps,
    {
      purpose: 'compression',
      runtime: summariser,
      // Not of the turn: its budget of calls is for its answer.
      turnId: null,
      instructions: instructionsFor(redact(asked?.topic ?? ''), room),
      text: redact(materialFor(plan.earlier, messages, materialCharsMax(summariser))),
      patienceMs,
      before: [{ verb: 'compress', step: { kind: 'begun' } }],
      after: (text) => {
        const done = plan.finish(tidySummary(text, redact, room), 'model');
        return done === null ? byRules() : end.done(done);
      },
    },
    signal,
  );
  if (answer !== null) return;
  if (!signal.aborted) return deps.commit(byRules());
  // Whoever leaves does it anew later; who was stopped is not asked for it again.
  const isStopped = signal.reason instanceof ActionCut && signal.reason.why === 'stop';
  if (isStopped && journal.openTurn === null) return decline('Stopped: the conversation stays as long as it is.');
}

/** Whether a prompt that a provider found too long can be made shorter at all. */
export function canShorten(deps: Pick<TurnDeps, 'agent'>, journal: Journal, { compressor }: Runtime): boolean {
  if (compressor === null || !mayHelpOverflow(journal)) return false;
  const plan = planFor(deps.agent.compression ?? usual, journal, 'overflow', compressor.thresholdTokens);
  return plan.kind !== 'too-little';
}

/** A provider that has refused the prompt leaves no choice: then only the newest step is protected, if need be. */
function planFor(
  { targetRatio, protectLastN }: CompressionChoice,
  journal: Journal,
  why: CompressionReason,
  thresholdTokens: number,
): CompressionPlan {
  const plan = (isPressed: boolean) =>
    planCompression(journal.entries, why, { thresholdTokens, targetRatio, protectLastN, isPressed });
  if (why !== 'overflow') return plan(false);
  const gentle = overflowsOfTurn(journal) > 1 ? null : plan(false);
  return gentle === null || gentle.kind === 'too-little' ? plan(true) : gentle;
}

const tooLittle =
  'Shortening the conversation would win too little, so it stays as it is; it is tried again when there is more.';

function materialCharsMax({ contextLength }: Runtime): number {
  return Math.floor(contextLength * materialShare * charsPerToken);
}

/** What is stored when it is over, one way or another: the step, and a word to the people. One commit. */
interface CompressionEnd {
  done(done: CompressedPrompt): readonly SessionWrite[];
  declined(text: string): readonly SessionWrite[];
}

function compressionEnd(
  { ids }: Pick<TurnDeps, 'ids'>,
  { openTurn, entries }: Journal,
  place: Pick<Reply, 'channel' | 'target'> | null,
): CompressionEnd {
  const writes = (step: CompressionStep, text: string): SessionWrite[] => {
    const reply = place === null ? {} : { reply: { outboxId: ids.next('out'), ...place, text, buttons: [] } };
    const notice = { verb: 'notice', turnId: openTurn?.id ?? null, text } as const;
    return [{ verb: 'compress', step, ...reply }, notice];
  };
  return {
    done: (done) => writes({ kind: 'done', ...done }, wonText(done)),
    declined: (text) => writes({ kind: 'declined', tokens: promptTokens(entries) }, text),
  };
}

function wonText({ tokensBefore, tokensAfter, by, digests, keeps }: CompressedPrompt): string {
  const counts = `about ${rounded(tokensBefore)} tokens became ${rounded(tokensAfter)}`;
  const how = digests.length > 0 ? 'old results are told in one line each' : 'what came before is told in a summary';
  const kept = keeps.length === 0 ? '' : '; what you asked for last stays word for word';
  const plain =
    by === 'rules' && digests.length === 0 ? ' No model could write it, so it is a plain list of what was done.' : '';
  return `The conversation was long and is told to the model more shortly: ${counts}; ${how}${kept}.${plain} Nothing is lost: the log keeps all of it.`;
}

function rounded(tokens: number): string {
  return tokens < 1_000 ? String(tokens) : `${Math.round(tokens / 1_000)},000`;
}
