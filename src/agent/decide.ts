/**
 * The whole life of a turn in one pure function. It knows only what is stored, so that starting, going on and
 * recovering from a crash are the same thing.
 */
import type { InboxId, TurnId } from '../protocol/ids.ts';
import { toolCallsOf } from '../protocol/messages.ts';
import type { CallRecord } from '../store/store.ts';
import { lastMessageOfTurn, type Journal } from './journal.ts';

export type Action =
  /** Nothing to do until a message arrives. */
  | { readonly kind: 'rest' }
  | { readonly kind: 'open-turn'; readonly promote: readonly InboxId[] }
  /** Messages that arrived in the middle of the turn become part of it. */
  | { readonly kind: 'join-turn'; readonly turnId: TurnId; readonly promote: readonly InboxId[] }
  | { readonly kind: 'call-model'; readonly turnId: TurnId }
  | { readonly kind: 'run-tools'; readonly turnId: TurnId; readonly calls: readonly CallRecord[] }
  /** These calls started, and whether they finished can't be told. */
  | { readonly kind: 'settle-unknown'; readonly turnId: TurnId; readonly calls: readonly CallRecord[] }
  | {
      readonly kind: 'close-turn';
      readonly turnId: TurnId;
      readonly ending: 'answered' | 'stopped' | 'budget-spent' | 'crashed-repeatedly';
      /** Calls that never ran and get a `skipped` result first. */
      readonly skip: readonly CallRecord[];
    };

export interface TurnLimits {
  readonly modelCallsMax: number;
  /** How often a turn may take the process down before it is parked. */
  readonly crashesMax: number;
  /** Whether messages that arrive mid-turn join it; otherwise they wait for its end. */
  readonly joinWaiting: boolean;
}

export function decide(journal: Journal, limits: TurnLimits): Action {
  const turn = journal.openTurn;
  const promote = journal.waiting.map((record) => record.id);
  if (turn === null) return promote.length > 0 ? { kind: 'open-turn', promote } : { kind: 'rest' };
  const turnId = turn.id;

  const calls = journal.unsettledCalls;
  // A call that started and left no trace may have happened: only a tool that says so is run again.
  const lost = calls.filter((call) => call.state === 'started' && call.replay === 'never');
  if (lost.length > 0) return { kind: 'settle-unknown', turnId, calls: lost };

  if (turn.crashes >= limits.crashesMax)
    return { kind: 'close-turn', turnId, ending: 'crashed-repeatedly', skip: calls };
  if (turn.stopRequested) return { kind: 'close-turn', turnId, ending: 'stopped', skip: calls };
  if (calls.length > 0) return { kind: 'run-tools', turnId, calls };

  if (endsWithAnswer(journal)) return { kind: 'close-turn', turnId, ending: 'answered', skip: [] };
  if (limits.joinWaiting && promote.length > 0) return { kind: 'join-turn', turnId, promote };
  if (turn.modelCalls >= limits.modelCallsMax) return { kind: 'close-turn', turnId, ending: 'budget-spent', skip: [] };
  return { kind: 'call-model', turnId };
}

/** All calls are settled here, so a message without calls at the end is the model's last word. */
function endsWithAnswer(journal: Journal): boolean {
  const last = lastMessageOfTurn(journal);
  return last?.role === 'assistant' && toolCallsOf(last).length === 0;
}
