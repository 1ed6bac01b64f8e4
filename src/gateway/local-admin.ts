/**
 * The part of the local API that is about who may: people on the channels of platforms, keys of the HTTP API,
 * what tools were allowed to do, and sending without a model. Whoever calls it is the owner.
 */
import type { IdSource } from '../lib/ids.ts';
import type { RandomSource } from '../lib/random.ts';
import { ApiError, messageBytesMax, type TalariaApi, type ToolSummary } from '../protocol/api.ts';
import type { Clock } from '../lib/clock.ts';
import { StoreError, type Store } from '../store/store.ts';
import { machineOwner } from './route-session.ts';
import type { Pairing } from './pairing.ts';

const refusalsShown = 100;
const keyBytes = 32;
const keyNamePattern = /^[\w.-]{1,64}$/;

export interface LocalAdminDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly random: RandomSource;
  readonly pairing: Pick<Pairing, 'approve'>;
  /** The channels that can be sent to now. */
  readonly channels: () => readonly string[];
  /** Why this place of a channel can't be reached, in a sentence; null if it may be. */
  readonly placeProblem?: (channel: string, place: string) => Promise<string | null>;
  /** As the front door hashes what it is shown. */
  readonly hashKey: (key: string) => string;
  /** There is something to deliver. */
  readonly poke: () => void;
  /** All tools that there are. */
  readonly tools?: () => Promise<readonly ToolSummary[]>;
  /** Keys were added or removed. */
  readonly onKeysChanged?: () => Promise<void>;
}

export type LocalAdmin = Pick<
  TalariaApi,
  | 'people'
  | 'approve'
  | 'revoke'
  | 'sendTo'
  | 'apiKeys'
  | 'addApiKey'
  | 'removeApiKey'
  | 'tools'
  | 'grants'
  | 'revokeGrant'
>;

export function createLocalAdmin(deps: LocalAdminDeps): LocalAdmin {
  const { store, clock } = deps;
  return {
    async people() {
      const [people, pending, refused] = await Promise.all([
        store.read.people(),
        store.read.pairings(clock.now()),
        store.read.refusals(refusalsShown),
      ]);
      return { people, pending, refused };
    },
    async approve(code, role) {
      const result = await deps.pairing.approve(code, role);
      switch (result.kind) {
        case 'approved':
          return result.person;
        case 'wrong':
          throw new ApiError('not-found', `No one waits with this code. Tries left: ${result.triesLeft}.`);
        case 'locked': {
          const minutes = Math.ceil((result.until - clock.now()) / 60_000);
          throw new ApiError('busy', `Too many codes were wrong; nobody can be approved for ${minutes} minutes.`);
        }
      }
    },
    revoke: (channel, userId) => store.removePerson(channel, userId),
    sendTo: (target, text) => sendTo(deps, target, text),
    async apiKeys() {
      return (await store.read.apiKeys()).map(({ name, createdAt }) => ({ name, createdAt }));
    },
    async addApiKey(name) {
      if (!keyNamePattern.test(name)) {
        throw new ApiError('bad-request', 'The name of a key has 1 to 64 letters, digits and . _ - in it.');
      }
      // Its sessions would be those of the machine's owner, who goes by this name.
      if (name === machineOwner) throw new ApiError('bad-request', `No key may be named ${name}; choose another name.`);
      const key = `tal_${Buffer.from(deps.random.bytes(keyBytes)).toString('base64url')}`;
      try {
        await store.addApiKey({ name, sha256: deps.hashKey(key) });
      } catch (error) {
        if (!(error instanceof StoreError) || error.reason !== 'conflict') throw error;
        throw new ApiError('bad-request', `There is a key named ${name} already; choose another name.`, {
          cause: error,
        });
      }
      await deps.onKeysChanged?.();
      return key;
    },
    async removeApiKey(name) {
      const isRemoved = await store.removeApiKey(name);
      if (isRemoved) await deps.onKeysChanged?.();
      return isRemoved;
    },
    tools: async () => (await deps.tools?.()) ?? [],
    async grants() {
      const grants = await store.read.grants();
      return grants.map(({ id, sessionId, kind, shown, grantedAt }) => ({ id, sessionId, kind, shown, grantedAt }));
    },
    revokeGrant: (id) => store.removeGrant(id),
  };
}

async function sendTo(deps: LocalAdminDeps, target: string, text: string): Promise<void> {
  const colon = target.indexOf(':');
  const [channel, place] = [target.slice(0, Math.max(0, colon)), target.slice(colon + 1)];
  const known = deps.channels();
  if (colon < 1 || place === '') throw new ApiError('bad-request', 'A target is CHANNEL:PLACE, like telegram:12345.');
  if (!known.includes(channel)) {
    const there = known.length === 0 ? 'none is configured' : `there is ${known.join(', ')}`;
    throw new ApiError('bad-request', `No channel named ${channel} is running; ${there}.`);
  }
  if (text.trim() === '') throw new ApiError('bad-request', 'There is nothing to send.');
  if (Buffer.byteLength(text) > messageBytesMax) throw new ApiError('too-large', 'The text is too long.');
  const problem = (await deps.placeProblem?.(channel, place)) ?? null;
  if (problem !== null) throw new ApiError('not-found', problem);
  await deps.store.queueMessage({
    outboxId: deps.ids.next('out'),
    channel,
    target: place,
    text: text.toWellFormed(),
    buttons: [],
    sessionId: null,
    answers: null,
  });
  deps.poke();
}
