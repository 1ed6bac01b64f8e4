/**
 * Where the gateway is killed on purpose: every verb of the store, before, during and after; and what can be seen from
 * outside. The types make a new verb a compile error here, so that nobody forgets to say how it is reached.
 */
import type { SessionEvent } from '../../src/protocol/events.ts';
import type { SessionWrite, Store } from '../../src/store/store.ts';
import type { SceneKind } from './scenes.ts';

/** The scene that makes a verb happen; `any` if most do; null if nothing in these runs does, with the reason beside it. */
type Reached = SceneKind | 'any' | null;
type StoreVerb = Exclude<keyof Store, 'read' | 'description'>;

const storeVerbs: Record<StoreVerb, Reached> = {
  admit: 'any',
  acquireLease: 'any',
  releaseLease: 'any',
  commit: 'any',
  claimDeliveries: 'any',
  settleDelivery: 'any',
  requestStop: 'stop',
  deleteSession: 'delete',
  importSession: 'import',
  snapshot: 'backup',
  // The channel of the local API has no parts: a reply is read in the log.
  recordPartSent: null,
  // First after ten seconds of work.
  renewLeases: null,
  // Asked for by a person about a parked turn: hit after the cases that park one.
  retryParked: null,
  dropParked: null,
  // Needs a tool that asks a person; the rehearsal calls none.
  answerCall: null,
  // Change nothing.
  search: null,
  rebuildSearch: null,
  checkIntegrity: null,
  close: null,
};

const writeVerbs: Record<SessionWrite['verb'], Reached> = {
  'freeze-head': 'fresh',
  'open-turn': 'any',
  'join-turn': 'join',
  'start-model-call': 'any',
  'end-model-call': 'any',
  'append-answer': 'any',
  'start-call': 'sequence',
  'settle-call': 'remember',
  'close-turn': 'any',
  // Needs a model that is no use, or one that says nothing: the rehearsal is neither.
  'append-nudge': null,
  ask: null,
  notice: null,
};

/** What a follower of the session sees when the gateway is killed from outside: mid-stream, mid-tool, between the two. */
const eventKinds: Partial<Record<SessionEvent['kind'], SceneKind | 'any'>> = {
  'turn-started': 'any',
  'text-delta': 'slow',
  'call-started': 'long-tool',
  'call-output': 'long-tool',
  'call-ended': 'pair',
  entry: 'any',
  'turn-ended': 'any',
};

export interface NamedPoint {
  /** `before:VERB`, `during:VERB`, `after:VERB`, or `seen:EVENT`. */
  readonly name: string;
  readonly by: 'store' | 'event';
  readonly scene: SceneKind | 'any';
}

export const namedPoints: readonly NamedPoint[] = [
  ...Object.entries({ ...storeVerbs, ...writeVerbs }).flatMap(([verb, scene]) =>
    scene === null
      ? []
      : ['before', 'during', 'after'].map((when) => ({ name: `${when}:${verb}`, by: 'store', scene }) as const),
  ),
  ...Object.entries(eventKinds).map(([kind, scene]) => ({ name: `seen:${kind}`, by: 'event', scene }) as const),
];

/** What a gateway that takes up unfinished work does first: killed here, it dies while it recovers. */
export const recoveryPoints: readonly string[] = [
  'before:acquireLease',
  'after:acquireLease',
  'before:start-model-call',
  'after:start-model-call',
  'before:settle-call',
  'during:settle-call',
  'after:settle-call',
  'before:append-answer',
  'after:append-answer',
  'during:close-turn',
  'after:close-turn',
  'before:claimDeliveries',
  'after:claimDeliveries',
  'before:settleDelivery',
];
