/**
 * Where the gateway is killed on purpose: every verb of the store, before, during and after; and what can be seen from
 * outside. The types make a new verb a compile error here, so that nobody forgets to say how it is reached.
 */
import type { SessionEvent } from '../../src/protocol/events.ts';
import type { SessionWrite, Store } from '../../src/store/store.ts';
import { sceneKinds, type SceneKind, type Setup } from './scenes.ts';
import type { HoldPoint } from './scripted-platform.ts';

/** The scenes that make a verb happen; `any` if most do; null if nothing in these runs does, with the reason beside it. */
type Reached = SceneKind | readonly SceneKind[] | 'any' | null;
type StoreVerb = Exclude<keyof Store, 'read' | 'description'>;

const storeVerbs: Record<StoreVerb, Reached> = {
  admit: 'any',
  acquireLease: 'any',
  releaseLease: 'any',
  commit: 'any',
  claimDeliveries: 'any',
  recordPartSent: 'parts',
  settleDelivery: 'any',
  requestStop: 'stop',
  answerCall: 'ask',
  deleteSession: 'delete',
  importSession: 'import',
  snapshot: 'backup',
  // First after ten seconds of work, as long as ten cases.
  renewLeases: null,
  // Asked for by a person about a parked turn: hit after the cases that park one.
  retryParked: null,
  dropParked: null,
  changeSettings: 'settings',
  restKey: 'limited',
  // Only when every key of every model rests: the turn before would have to fail.
  wakeKey: null,
  // Commands and drafts: on Telegram only.
  closeSession: 'renew',
  queueMessage: ['status', 'stop-draft'],
  noteDraft: ['draft', 'stop-tool-draft'],
  // Other commands, keys, and people themselves: nobody gives them here.
  reopenSession: null,
  requestPairing: null,
  approvePairing: null,
  addPerson: null,
  removePerson: null,
  recordRefusal: null,
  addApiKey: null,
  removeApiKey: null,
  // What a person allows for longer than once: nothing in these runs asks for it.
  addGrant: null,
  removeGrant: null,
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
  'settle-call': ['remember', 'ask'],
  'close-turn': 'any',
  'append-nudge': 'budget',
  ask: 'ask',
  notice: 'budget',
  'set-title': 'named',
  // A command's: /undo and /retry.
  rewind: null,
  compress: 'shorten',
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

/** Requests to the platform in which the gateway dies: what it told may have arrived, and nobody tells it. */
const holdPoints: Record<HoldPoint, SceneKind> = {
  acknowledging: 'plain',
  posting: 'parts',
  posted: 'parts',
  drafted: 'draft',
};

export interface NamedPoint {
  /** `before:VERB`, `during:VERB`, `after:VERB`, `seen:EVENT` or `platform:REQUEST`. */
  readonly name: string;
  readonly by: 'store' | 'event' | 'platform';
  /** One of these makes it happen; most do if there are none. */
  readonly scenes: readonly SceneKind[];
}

export const namedPoints: readonly NamedPoint[] = [
  ...Object.entries({ ...storeVerbs, ...writeVerbs }).flatMap(([verb, reached]) =>
    reached === null ? [] : ['before', 'during', 'after'].map((when) => pointOf('store', `${when}:${verb}`, reached)),
  ),
  ...Object.entries(eventKinds).map(([kind, scene]) => pointOf('event', `seen:${kind}`, scene)),
  ...Object.entries(holdPoints).map(([point, scene]) => pointOf('platform', `platform:${point}`, scene)),
];

function pointOf(by: NamedPoint['by'], name: string, reached: Exclude<Reached, null>): NamedPoint {
  const scenes = reached === 'any' ? [] : typeof reached === 'string' ? [reached] : reached;
  return { by, name, scenes };
}

/** The scenes of this setup that come to the point; null if it can't be reached, empty if most do. */
export function scenesFor({ by, scenes }: NamedPoint, setup: Setup): readonly SceneKind[] | null {
  const able = scenes.filter((scene) => sceneKinds[setup].includes(scene));
  if (by === 'platform' && setup === 'bundle') return null;
  return able.length === 0 && scenes.length > 0 ? null : able;
}

/** Those that a run with these setups can come to. */
export function pointsWithin(setups: readonly Setup[]): readonly NamedPoint[] {
  return namedPoints.filter((point) => setups.some((setup) => scenesFor(point, setup) !== null));
}

const channelVerbs: readonly (StoreVerb | SessionWrite['verb'])[] = [
  'admit',
  'claimDeliveries',
  'recordPartSent',
  'settleDelivery',
  'requestStop',
  'answerCall',
  'closeSession',
  'queueMessage',
  'noteDraft',
];

/** Whether it lies on the way in or out through a channel. */
export function isOfChannel({ by, name }: NamedPoint): boolean {
  return by !== 'store' || channelVerbs.some((verb) => name.endsWith(`:${verb}`));
}

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
  'before:recordPartSent',
  'after:recordPartSent',
  'before:settleDelivery',
];
