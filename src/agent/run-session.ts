/**
 * The turn loop: decide, perform, store, look again, until there is nothing to do. It owns no state: all of it is
 * in the store, and leaving at any point loses nothing. A failed write ends the loop with the store's error.
 */
import { unreachable } from '../lib/assert.ts';
import type { SessionEvent } from '../protocol/events.ts';
import type { SessionId } from '../protocol/ids.ts';
import type { Lease, Store } from '../store/store.ts';
import { callModel } from './call-model.ts';
import { closeTurn, failTurn } from './close-turn.ts';
import { decide, type Action } from './decide.ts';
import { headOf, loadJournal, refreshJournal, type Journal } from './journal.ts';
import { modelRequest } from './model-request.ts';
import { runTools, settled } from './tool-round.ts';
import type { Agent, TurnDeps } from './turn-deps.ts';

export interface RunSessionDeps extends Omit<TurnDeps, 'agent' | 'read' | 'commit' | 'sink'> {
  readonly store: Store;
  /** Shows entries once they are stored, and work in progress. Never throws. */
  readonly publish: (event: SessionEvent) => void;
}

export interface RunControl {
  /** Once aborted, the loop ends after the action under way; an open turn stays open. */
  readonly leaving: AbortSignal;
  /** A fresh signal for each action; aborting it with an `ActionCut` ends the action, and the loop decides anew. */
  readonly nextAction: () => AbortSignal;
}

/** `rested`: nothing is left to do. `left`: asked to leave in the middle of a turn. */
export async function runSession(
  deps: RunSessionDeps,
  agent: Agent,
  lease: Lease,
  control: RunControl,
): Promise<'rested' | 'left'> {
  const turnDeps: TurnDeps = {
    ...deps,
    agent,
    read: deps.store.read,
    commit: (writes) => deps.store.commit(lease, writes),
    sink: deps.publish,
  };
  // The signal is taken before the journal is read: a stop is stored first and signalled second, so that one that comes
  // in between is either seen in the journal or heard by the action.
  let signal = control.nextAction();
  let journal = await loadJournal(deps.store.read, lease.sessionId);
  if (journal === null) return 'rested';
  if (journal.openTurn !== null) deps.publish({ kind: 'turn-started', turnId: journal.openTurn.id });

  for (;;) {
    if (control.leaving.aborted) return journal.openTurn === null ? 'rested' : 'left';
    const action = decide(journal, agent.limits);
    if (action.kind === 'rest') return 'rested';
    await perform(turnDeps, journal, action, lease.sessionId, signal);
    signal = control.nextAction();
    journal = await publishNew(deps, journal);
  }
}

async function perform(
  deps: TurnDeps,
  journal: Journal,
  action: Exclude<Action, { kind: 'rest' }>,
  sessionId: SessionId,
  signal: AbortSignal,
): Promise<void> {
  switch (action.kind) {
    case 'open-turn': {
      const turnId = deps.ids.next('trn');
      const open = { verb: 'open-turn', turnId, promote: action.promote } as const;
      if (headOf(journal) !== null) await deps.commit([open]);
      else {
        const head = await deps.agent.buildHead();
        await deps.commit([{ verb: 'freeze-head', reason: 'session-started', head }, open]);
      }
      deps.sink({ kind: 'turn-started', turnId });
      return;
    }
    case 'join-turn':
      return deps.commit([{ verb: 'join-turn', turnId: action.turnId, promote: action.promote }]);
    case 'call-model': {
      const step = await callModel(deps, deps.agent.model, action.turnId, modelRequest(journal), signal);
      if (step.kind === 'failed') return failTurn(deps, journal, step.writes, step.error.message);
      if (step.writes.length > 0) await deps.commit(step.writes);
      return;
    }
    case 'run-tools':
      return runTools(deps, sessionId, action.calls, signal);
    case 'settle-unknown':
      return deps.commit(action.calls.map((call) => settled(call, 'unknown', unknownText)));
    case 'close-turn':
      return closeTurn(deps, journal, action);
    default:
      return unreachable(action);
  }
}

const unknownText =
  'Talaria was interrupted while this ran. Whether it finished is not known: check before doing it again.';

/** Entries are shown in the order of the log, each once it is stored; a draft that became one is cleared with it. */
async function publishNew(deps: RunSessionDeps, before: Journal): Promise<Journal> {
  const journal = await refreshJournal(deps.store.read, before);
  for (const entry of journal.entries.slice(before.entries.length)) {
    if (entry.kind === 'message' && entry.message.role === 'assistant' && entry.turnId !== null) {
      deps.publish({ kind: 'draft-cleared', turnId: entry.turnId });
    }
    deps.publish({ kind: 'entry', entry });
    if (entry.kind === 'turn-closed' && entry.turnId !== null)
      deps.publish({ kind: 'turn-ended', turnId: entry.turnId });
  }
  return journal;
}
