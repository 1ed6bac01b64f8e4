/**
 * The turn loop: decide, perform, store, look again, until there is nothing to do. It owns no state: all of it is
 * in the store, and leaving at any point loses nothing. A failed write ends the loop with the store's error.
 */
import { unreachable } from '../lib/assert.ts';
import type { SessionEvent } from '../protocol/events.ts';
import type { UserMessage } from '../protocol/messages.ts';
import type { CallRecord, Lease, SessionWrite, Store } from '../store/store.ts';
import { callModel } from './call-model.ts';
import { closeTurn, failTurn } from './close-turn.ts';
import { decide, type Action } from './decide.ts';
import { nextHead } from './next-head.ts';
import { headOf, loadJournal, messagesOfTurn, refreshJournal, type Journal } from './journal.ts';
import { contentsOf, modelRequest } from './model-request.ts';
import { betterTitle, nameSession } from './name-session.ts';
import { endCalls, lostText, runTools, settled } from './tool-round.ts';
import type { Agent, TurnDeps, TurnSettings } from './turn-deps.ts';
import { TurnModels } from './turn-models.ts';

export interface RunSessionDeps extends Pick<TurnDeps, 'clock' | 'ids' | 'random' | 'log'> {
  readonly store: Store;
  /** Shows entries once they are stored, and work in progress. Never throws. */
  readonly publish: (event: SessionEvent) => void;
  /** Something to send was stored; more of the run may follow. Never throws. */
  readonly onQueued?: () => void;
}

export interface RunControl {
  /** Once aborted, the loop ends after the action under way; an open turn stays open. */
  readonly leaving: AbortSignal;
  /** A fresh signal for each action; aborting it with an `ActionCut` ends the action, and the loop decides anew. */
  readonly nextAction: () => AbortSignal;
  /** A fresh signal that aborts once something has arrived for the session: side jobs are not in anybody's way. */
  readonly nextArrival?: () => AbortSignal;
}

/** What a run came to. `left`: asked to leave in the middle of a turn. */
export type RunEnd =
  | { readonly kind: 'rested' }
  /** A turn has ended and the next one waits: it is to be run by the agent that the configuration wants then. */
  | { readonly kind: 'more' }
  | { readonly kind: 'left' }
  | { readonly kind: 'waits'; readonly until: number };

export interface SessionAgent {
  readonly agent: Agent;
  readonly settings: TurnSettings;
}

export async function runSession(
  deps: RunSessionDeps,
  { agent, settings }: SessionAgent,
  lease: Lease,
  control: RunControl,
): Promise<RunEnd> {
  const { store, clock } = deps;
  // The signal is taken before the journal is read: a stop is stored first and signalled second, so that one that comes
  // in between is either seen in the journal or heard by the action.
  let signal = control.nextAction();
  let arrival: AbortSignal | undefined = control.nextArrival?.();
  const loaded = await loadJournal(store.read, lease.sessionId);
  if (loaded === null) return { kind: 'rested' };
  let journal = loaded;
  // It may be stored and yet unknown to those who look on: the run before this one may have ended in between.
  const newest = journal.entries.at(-1);
  if (newest !== undefined) deps.publish({ kind: 'entry', entry: newest });
  if (journal.openTurn !== null) deps.publish({ kind: 'turn-started', turnId: journal.openTurn.id });

  /** One after the other: calls side by side may have something to show at the same time. */
  let showing = Promise.resolve();
  const showNew = () =>
    (showing = showing.then(async () => {
      journal = await publishNew(deps, journal);
    }));
  const commit: TurnDeps['commit'] = async (writes) => {
    await store.commit(lease, writes);
    if (writes.some(isToSend)) deps.onQueued?.();
    // A person is asked while the calls beside it still run.
    if (writes.some(({ verb }) => verb === 'ask')) await showNew();
  };
  const turnDeps: TurnDeps = {
    ...deps,
    agent,
    settings,
    models: new TurnModels({ chain: agent.chain, read: store.read, clock, sessionId: lease.sessionId }),
    read: store.read,
    restKey: store.restKey,
    wakeKey: store.wakeKey,
    commit,
    async tell(turnId, text) {
      await commit([{ verb: 'notice', turnId, text }]);
      await showNew();
    },
    sink: deps.publish,
  };
  for (;;) {
    if (control.leaving.aborted) return { kind: journal.openTurn === null ? 'rested' : 'left' };
    const { compressor, seesImages } = turnDeps.models.leader(journal.openTurn?.id ?? null);
    const compressAt = compressor?.thresholdTokens ?? null;
    const describesImages = !seesImages && (agent.seer ?? null) !== null;
    const action = decide(journal, { ...settings.limits, compressAt, describesImages }, clock.now());
    if (action.kind === 'rest') return { kind: 'rested' };
    if (action.kind === 'wait') return { kind: 'waits', until: action.until };
    const cuts = action.kind === 'name-session' && arrival !== undefined ? [signal, arrival] : [signal];
    await perform(turnDeps, journal, action, cuts.length === 1 ? signal : AbortSignal.any(cuts));
    signal = control.nextAction();
    arrival = control.nextArrival?.();
    await showNew();
    if (action.kind === 'close-turn' && journal.waiting.length > 0) return { kind: 'more' };
  }
}

function isToSend(write: SessionWrite): boolean {
  if (write.verb === 'compress' || write.verb === 'notice') return write.reply !== undefined;
  if (write.verb === 'settle-call') return (write.replies?.length ?? 0) > 0;
  return (write.verb === 'ask' || write.verb === 'close-turn') && write.reply !== null;
}

async function perform(
  deps: TurnDeps,
  journal: Journal,
  action: Exclude<Action, { kind: 'rest' | 'wait' }>,
  signal: AbortSignal,
): Promise<void> {
  switch (action.kind) {
    case 'open-turn': {
      const turnId = deps.ids.next('trn');
      const open = { verb: 'open-turn', turnId, promote: action.promote } as const;
      const frozen = await nextHead(headOf(journal), deps.agent);
      const title = betterTitle(journal, action.promote);
      await deps.commit([
        ...(frozen === null ? [] : [{ verb: 'freeze-head', ...frozen } as const]),
        ...(title === null ? [] : [{ verb: 'set-title', title, by: 'words' } as const]),
        open,
      ]);
      deps.sink({ kind: 'turn-started', turnId });
      return;
    }
    case 'join-turn':
      return deps.commit([{ verb: 'join-turn', turnId: action.turnId, promote: action.promote }]);
    case 'call-model': {
      const { turnId, purpose } = action;
      const { effort, cachePace } = deps.settings;
      await placeFiles(deps, journal);
      const request = modelRequest(journal, { effort, cachePace, contents: await loadContents(deps, journal) });
      const step = await callModel(deps, { journal, turnId, purpose, request }, signal);
      if (step.kind === 'overflowed') return deps.commit([...step.writes, askedByProvider]);
      if (step.kind === 'failed') return failTurn(deps, journal, step.writes, step.error);
      if (step.writes.length > 0) await deps.commit(step.writes);
      return;
    }
    case 'name-session':
      return nameSession(deps, journal, signal);
    case 'compress': {
      // Rare: most processes never need it.
      const { compress } = await import('./compress.ts');
      return compress(deps, journal, action.why, signal);
    }
    case 'describe-images': {
      const { describeImages } = await import('./describe-images.ts');
      return describeImages(deps, journal, action.turnId, signal);
    }
    case 'run-tools':
      return runTools(deps, journal, action.calls, signal);
    case 'end-calls':
      return endCalls(deps, journal, action.calls);
    case 'ask-for-summary':
      return deps.commit([{ verb: 'append-nudge', turnId: action.turnId, message: summaryRequest }]);
    case 'settle-lost':
      return deps.commit(action.calls.map(settledAsLost));
    case 'close-turn':
      return closeTurn(deps, journal, action);
    default:
      return unreachable(action);
  }
}

async function loadContents(deps: TurnDeps, journal: Journal): Promise<ReadonlyMap<string, Uint8Array>> {
  const contents = new Map<string, Uint8Array>();
  for (const sha256 of contentsOf(journal)) {
    const bytes = await deps.read.content(sha256);
    if (bytes !== null) contents.set(sha256, bytes);
  }
  return contents;
}

/** Before the model hears of them. One that can't be put there is missing to its tools, which say so. */
async function placeFiles({ agent, read, log }: TurnDeps, journal: Journal): Promise<void> {
  if (agent.placeFile === undefined) return;
  for (const { message } of messagesOfTurn(journal)) {
    for (const part of message.parts) {
      if (part.kind !== 'file' || part.path === undefined) continue;
      await agent
        .placeFile(part.path, () => read.content(part.content.sha256))
        .catch((error: unknown) => log.warn('a file that was sent can not be put into the workspace', { error }));
    }
  }
}

/** What acts on Talaria itself has done so if Talaria went down with it. */
function settledAsLost(call: CallRecord): SessionWrite {
  if (call.effect === 'self')
    return settled(call, 'finished', 'Done: Talaria was interrupted by it, as it was meant to be.');
  return settled(call, 'unknown', lostText);
}

const askedByProvider: SessionWrite = {
  verb: 'compress',
  step: { kind: 'asked', why: 'overflow', topic: '', place: null },
};

const summaryRequest: UserMessage = {
  role: 'user',
  parts: [
    {
      kind: 'text',
      text: '[From Talaria: this turn has used up its model calls. Use no more tools. Say what is done, what is not, and how to go on.]',
    },
  ],
};

/** Entries are shown in the order of the log, each once it is stored; a draft that became one is cleared with it. */
async function publishNew(deps: RunSessionDeps, before: Journal): Promise<Journal> {
  const journal = await refreshJournal(deps.store.read, before);
  for (const entry of journal.entries.filter(({ seq }) => seq > before.session.lastSeq)) {
    if (entry.kind === 'message' && entry.message.role === 'assistant' && entry.turnId !== null) {
      deps.publish({ kind: 'draft-cleared', turnId: entry.turnId });
    }
    deps.publish({ kind: 'entry', entry });
    if (entry.kind === 'turn-closed' && entry.turnId !== null)
      deps.publish({ kind: 'turn-ended', turnId: entry.turnId });
  }
  return journal;
}
