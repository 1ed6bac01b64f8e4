/**
 * The whole life of a turn in one pure function. It knows only what is stored, so that starting, going on and
 * recovering from a crash are the same thing.
 */
import type { InboxId, TurnId } from '../protocol/ids.ts';
import { toolCallsOf } from '../protocol/messages.ts';
import type { CallRecord, TurnRecord } from '../store/store.ts';
import { callHistory, mistakenRoundsMax, sameFailureStoppedAt } from './call-history.ts';
import { undescribedImages } from './undescribed-images.ts';
import { compressionDue, isCompressionAsked, type CompressionReason } from './compression-due.ts';
import { hasNudge, lastMessageOfTurn, type Journal } from './journal.ts';

export type Action =
  /** Nothing to do until a message arrives. */
  | { readonly kind: 'rest' }
  /** The first answer is there and nobody waits: the session gets a name. */
  | { readonly kind: 'name-session' }
  | { readonly kind: 'open-turn'; readonly promote: readonly InboxId[] }
  /** Messages that arrived in the middle of the turn become part of it. */
  | { readonly kind: 'join-turn'; readonly turnId: TurnId; readonly promote: readonly InboxId[] }
  /** The prompt is too long, or somebody wants it shorter. */
  | { readonly kind: 'compress'; readonly why: CompressionReason }
  /** The model that answers can't see what was attached; another one can. */
  | { readonly kind: 'describe-images'; readonly turnId: TurnId }
  | { readonly kind: 'call-model'; readonly turnId: TurnId; readonly purpose: 'answer' | 'summarise' }
  /** The budget is used up: the model is told to say where things stand. */
  | { readonly kind: 'ask-for-summary'; readonly turnId: TurnId }
  | { readonly kind: 'run-tools'; readonly turnId: TurnId; readonly calls: readonly CallRecord[] }
  /** These calls go on although their turn is over: they are taken up and ended. */
  | { readonly kind: 'end-calls'; readonly turnId: TurnId; readonly calls: readonly CallRecord[] }
  /** A person must answer first; there is something to do again at `until` at the latest. */
  | { readonly kind: 'wait'; readonly until: number }
  /** These calls started in a process that died, and can be neither repeated nor taken up again. */
  | { readonly kind: 'settle-lost'; readonly turnId: TurnId; readonly calls: readonly CallRecord[] }
  | {
      readonly kind: 'close-turn';
      readonly turnId: TurnId;
      readonly ending: TurnEnding;
      /** Calls that never ran and get a `skipped` result first. */
      readonly skip: readonly CallRecord[];
    };

export type TurnEnding =
  | 'answered'
  | 'stopped'
  | 'budget-spent'
  | 'repeats-itself'
  | 'only-mistakes'
  | 'crashed-repeatedly';

/** How often ending the calls of a parked turn may take the process down as well. */
const endingTriesMax = 3;
/** After so many answers a session that still has no name keeps its words: each try may cost a call. */
const namingTriesMax = 5;

export interface TurnLimits {
  /** Model calls in one turn, a last one for a summary not counted. */
  readonly modelCallsMax: number;
  /** How often a turn may take the process down before it is parked. */
  readonly crashesMax: number;
  /** Whether messages that arrive mid-turn and don't say so themselves join it; otherwise they wait for its end. */
  readonly joinWaiting: boolean;
  /** Whether a model names sessions. */
  readonly namesSessions: boolean;
  /** From how many tokens on a prompt is shortened; null or left out: only if somebody asks. */
  readonly compressAt?: number | null;
  /** Whether pictures are described, because the model that answers can't see them. */
  readonly describesImages?: boolean;
}

/** The oldest waiting messages, up to one that has a turn of its own. */
function answeredTogether({ waiting }: Journal): InboxId[] {
  const alone = waiting.findIndex(({ message }) => message.hasOwnTurn === true);
  const together = alone === -1 ? waiting : waiting.slice(0, Math.max(1, alone));
  return together.map(({ id }) => id);
}

export function decide(journal: Journal, limits: TurnLimits, now: number): Action {
  const turn = journal.openTurn;
  if (turn === null) {
    if (isCompressionAsked(journal)) return { kind: 'compress', why: 'person' };
    const promote = answeredTogether(journal);
    if (promote.length > 0) return { kind: 'open-turn', promote };
    return limits.namesSessions && mayBeNamed(journal) ? { kind: 'name-session' } : { kind: 'rest' };
  }
  const turnId = turn.id;
  const calls = journal.unsettledCalls;
  const close = (ending: TurnEnding): Action => ({ kind: 'close-turn', turnId, ending, skip: calls });

  // A call that started and left no trace may have happened: only a tool that says so is run again.
  const lost = calls.filter((call) => call.state === 'started' && call.replay === 'never');
  if (lost.length > 0) return { kind: 'settle-lost', turnId, calls: lost };

  const ending = forcedEnding(turn, limits);
  if (ending !== null) {
    // What lives on by itself must not be left behind, unless ending it is what takes the process down.
    const isHopeless = turn.crashes >= limits.crashesMax + endingTriesMax;
    const alive = calls.filter((call) => call.state === 'started' && call.replay === 'attach' && !isHopeless);
    return alive.length > 0 ? { kind: 'end-calls', turnId, calls: alive } : close(ending);
  }
  const ready = calls.filter((call) => !isUnanswered(call, now));
  if (ready.length > 0) return { kind: 'run-tools', turnId, calls: ready };
  if (calls.length > 0) return { kind: 'wait', until: Math.min(...calls.map(deadlineOf)) };

  if (endsWithAnswer(journal)) return close('answered');
  const history = callHistory(journal);
  if (history.mostFailures >= sameFailureStoppedAt) return close('repeats-itself');
  if (history.mistakenRounds >= mistakenRoundsMax) return close('only-mistakes');

  const joining = journal.waiting.filter(({ joins }) => joins ?? limits.joinWaiting).map(({ id }) => id);
  if (joining.length > 0) return { kind: 'join-turn', turnId, promote: joining };
  if (limits.describesImages === true && undescribedImages(journal).length > 0) {
    return { kind: 'describe-images', turnId };
  }
  const why = compressionDue(journal, limits.compressAt ?? null);
  if (why !== null) return { kind: 'compress', why };
  if (turn.modelCalls < limits.modelCallsMax) return { kind: 'call-model', turnId, purpose: 'answer' };
  if (!hasNudge(journal)) return { kind: 'ask-for-summary', turnId };
  return { kind: 'call-model', turnId, purpose: 'summarise' };
}

/** Its title is still the words it began with, and there is more to go by now. */
function mayBeNamed({ session, entries }: Journal): boolean {
  if (session.titledBy !== 'words') return false;
  const answers = entries.filter((entry) => entry.kind === 'turn-closed' && entry.outcome === 'answered').length;
  return answers > 0 && answers <= namingTriesMax;
}

/** Why the turn must end although it is not done; null if it need not. */
function forcedEnding(turn: TurnRecord, limits: TurnLimits): TurnEnding | null {
  if (turn.crashes >= limits.crashesMax) return 'crashed-repeatedly';
  if (turn.stopRequested) return 'stopped';
  return turn.modelCalls > limits.modelCallsMax ? 'budget-spent' : null;
}

/** Waits for a person, and may go on waiting. */
function isUnanswered(call: CallRecord, now: number): boolean {
  return call.state === 'waiting' && call.answer === null && now < deadlineOf(call);
}

function deadlineOf(call: CallRecord): number {
  return call.question?.deadline ?? 0;
}

/** All calls are settled here, so a message without calls at the end is the model's last word. */
function endsWithAnswer(journal: Journal): boolean {
  const last = lastMessageOfTurn(journal);
  return last?.role === 'assistant' && toolCallsOf(last).length === 0;
}
