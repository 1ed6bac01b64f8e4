/**
 * Shortens a session's prompt: results to one line each, and if that is not enough a summary by the model that was chosen
 * for it. What comes of it is one commit, so that a crash leaves the old beginning or the new one. A summariser that
 * fails, can't be paid for or went down with the process twice is done without: a digest by rules serves.
 */
import { ActionCut, type CompressionChoice, type TurnDeps } from './turn-deps.ts';
import type { Runtime } from '../models/model.ts';
import type { CompressedPrompt, CompressionStep } from '../protocol/messages.ts';
import { countText } from '../protocol/usage-text.ts';
import type { Reply, SessionWrite } from '../store/store.ts';
import { compressionState, mayHelpOverflow, overflowsOfTurn, type CompressionReason } from './compression-due.ts';
import { instructionsFor, materialFor, plainSummary, summaryRoom, tidySummary } from './compression-words.ts';
import type { Journal } from './journal.ts';
import { planCompression, type CompressionPlan } from './plan-compression.ts';
import { promptTokens } from './prompt-size.ts';
import { promptView } from './prompt-view.ts';
import { placeOfTurn } from './reply-to.ts';
import { sideCall } from './side-call.ts';

const patienceMs = 120_000;
/** How often a summary is asked for that was cut short by the end of the process, before it is done by rules. */
const askedForMax = 2;
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
  const { openTurn } = journal;
  const there = openTurn === null ? null : await placeOfTurn(deps, journal, openTurn.id);
  const end = compressionEnd(deps, journal, asked?.place ?? null, there);
  const decline = (text: string) => deps.commit(end.declined(text));
  if (compressor === null) return decline('Conversations are not shortened here: compression.enabled is off.');
  const choice = deps.agent.compression ?? usual;
  const plan = planFor(choice, journal, why, compressor.thresholdTokens);
  if (plan.kind === 'too-little') return decline(tooLittle(why));
  if (plan.kind === 'digests') return deps.commit(end.done(plan.done, 'results'));

  const summariser = choice.summariser ?? runtime;
  const room = Math.min(
    summaryRoom(compressor.thresholdTokens),
    plan.tokensBefore * summaryCharsPerToken,
    // What is longer would break off in the middle, and what must be kept letter by letter comes last.
    summariser.outputTokensMax * charsPerToken,
  );
  const messages = plan.middle.map(({ message }) => message);
  const redact = choice.redact ?? ((text: string) => text);
  const byRules = () => {
    const done = plan.finish(plainSummary(plan.earlier, messages, redact, room), 'rules');
    return done === null ? end.declined(tooLittle(why)) : end.done(done, 'summary');
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
        return done === null ? byRules() : end.done(done, 'summary');
      },
    },
    signal,
  );
  if (answer !== null) return;
  if (!signal.aborted) return deps.commit(byRules());
  // Whoever leaves does it anew later; what a person wished for and stopped is not begun again when the turn is over.
  const isStopped = signal.reason instanceof ActionCut && signal.reason.why === 'stop';
  if (isStopped && why === 'person') return decline('Stopped: the conversation stays as long as it is.');
}

/** Whether a prompt that a provider found too long can be made shorter at all. */
export function canShorten(deps: Pick<TurnDeps, 'agent'>, journal: Journal, { compressor }: Runtime): boolean {
  if (compressor === null || !mayHelpOverflow(journal)) return false;
  const plan = planFor(deps.agent.compression ?? usual, journal, 'overflow', compressor.thresholdTokens);
  return plan.kind !== 'too-little';
}

/** A provider that has refused the prompt leaves no choice: then only the newest step is protected, and its words only. */
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

function tooLittle(why: CompressionReason): string {
  const later = why === 'person' ? '' : '; it is tried again when there is more';
  return `Shortening the conversation would win too little, so it stays as it is${later}.`;
}

function materialCharsMax({ contextLength }: Runtime): number {
  return Math.floor(contextLength * materialShare * charsPerToken);
}

/** What is stored when it is over, one way or another: the step, and a word to the people. One commit. */
interface CompressionEnd {
  /** `told`: what is told more shortly than before. */
  done(done: CompressedPrompt, told: 'results' | 'summary'): readonly SessionWrite[];
  declined(text: string): readonly SessionWrite[];
}

type ReplyPlace = Pick<Reply, 'channel' | 'target'>;

/** `place`: where somebody asked for it. `there`: where the people of the turn are. */
function compressionEnd(
  { ids }: Pick<TurnDeps, 'ids'>,
  { openTurn, entries }: Journal,
  place: ReplyPlace | null,
  there: ReplyPlace | null,
): CompressionEnd {
  const replyAt = (at: ReplyPlace, text: string): Reply => ({ outboxId: ids.next('out'), ...at, text, buttons: [] });
  const writes = (step: CompressionStep, text: string, isNews: boolean): SessionWrite[] => {
    // Who asked is answered where they asked; a front end that reads the log finds the answer there, and once.
    if (place !== null) return [{ verb: 'compress', step, reply: replyAt(place, text) }];
    const sent = isNews && there !== null ? { reply: replyAt(there, text) } : {};
    return [
      { verb: 'compress', step },
      { verb: 'notice', turnId: openTurn?.id ?? null, text, ...sent },
    ];
  };
  const isFirst = (promptView(entries).compressed?.summary ?? '') === '';
  return {
    // In a chat it is news once that words are left out, and always that something did not go well.
    done(done, told) {
      const isNews = told === 'summary' && (isFirst || done.by === 'rules');
      return writes({ kind: 'done', ...done }, wonText(done, told), isNews);
    },
    declined: (text) => writes({ kind: 'declined', tokens: promptTokens(entries) }, text, true),
  };
}

function wonText({ why, by, keeps, tokensBefore, tokensAfter }: CompressedPrompt, told: 'results' | 'summary'): string {
  const opening = why === 'person' ? [] : ['The conversation grew long.'];
  const counts = `about ${rounded(tokensBefore)} tokens became ${rounded(tokensAfter)}`;
  const results = why === 'overflow' ? 'Long results of tools are' : 'Old results of tools are';
  const what = told === 'results' ? results : 'What came before is';
  const how = told === 'results' ? 'in one line each' : 'in a summary';
  const kept = keeps.length === 0 ? [] : ['What was asked for last stays word for word.'];
  const isPlain = told === 'summary' && by === 'rules';
  const plain = isPlain ? ['No model could write it, so it is a plain list of what was said and done.'] : [];
  const won = `${what} told to the model ${how} from now on: ${counts}.`;
  return [...opening, won, ...plain, ...kept, 'The log keeps every word.'].join(' ');
}

/** Two digits that count: it is an estimate. */
function rounded(tokens: number): string {
  return countText(Number(tokens.toPrecision(2)));
}
