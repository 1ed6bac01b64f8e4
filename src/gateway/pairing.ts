/**
 * How a stranger gets in: their first direct message is answered with a code, and whoever runs Talaria approves it. The
 * code is kept by its hash only, is good for a quarter of an hour and for one person, and guessing is cut short by the
 * store's limits. In groups strangers are passed over in silence. Whoever is turned away is on record.
 *
 * A process that dies between storing a request and queueing its code leaves somebody with no code; they are told that
 * one was given out, and get another when it has expired.
 */
import type { InboundMessage } from '../channels/channel.ts';
import type { Clock } from '../lib/clock.ts';
import type { IdSource } from '../lib/ids.ts';
import type { RandomSource } from '../lib/random.ts';
import type { ApprovalResult, PairingLimits, PairingResult, Role, Store } from '../store/store.ts';

export const pairingTtlMs = 15 * 60_000;
export const pairingLimits: PairingLimits = { pendingMax: 3, wrongMax: 5, lockMs: 3_600_000 };
/** 50 bits, in Crockford's base 32: no I, L, O or U that could be misread. */
const codeChars = 10;
const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const nameCharsMax = 100;
/** Between two words to the same stranger that say nothing new. */
const repeatedWordsEveryMs = 60_000;
const strangersRemembered = 1_000;

export interface PairingDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly random: RandomSource;
  /** Whether owners of this channel stand in the configuration: then nobody becomes one by being the first. */
  readonly hasConfiguredOwners: (channel: string) => boolean;
  /** There is something to deliver. */
  readonly poke: () => void;
}

export interface Pairing {
  /** Deals with a message of somebody unknown. Idempotent by the message. */
  turnAway(message: Omit<InboundMessage, 'message'>): Promise<void>;
  /** The first one to be approved on a channel without configured owners becomes its owner, whatever `role` says. */
  approve(code: string, role: Role): Promise<ApprovalResult>;
}

export function createPairing(deps: PairingDeps): Pairing {
  const { store, clock } = deps;
  const toldAt = new Map<string, number>();

  /** Not on and on to one who goes on. */
  const isTimeToTell = (stranger: string): boolean => {
    const now = clock.now();
    const last = toldAt.get(stranger);
    if (last !== undefined && now - last < repeatedWordsEveryMs) return false;
    toldAt.delete(stranger);
    toldAt.set(stranger, now);
    const [oldest] = toldAt.keys();
    if (toldAt.size > strangersRemembered && oldest !== undefined) toldAt.delete(oldest);
    return true;
  };

  return {
    async turnAway({ channel, externalId, sender, place }) {
      const name = sender.name.slice(0, nameCharsMax).toWellFormed();
      await store.recordRefusal({ channel, userId: sender.id, name });
      if (place.kind !== 'direct') return;
      const code = newCode(deps.random);
      const createdAt = clock.now();
      const request = { channel, userId: sender.id, name, createdAt, expiresAt: createdAt + pairingTtlMs };
      const result = await store.requestPairing({ ...request, codeHash: hashOfCode(code) }, pairingLimits);
      if (result.kind !== 'requested' && !isTimeToTell(`${channel}:${sender.id}`)) return;
      await store.queueMessage({
        outboxId: deps.ids.next('out'),
        channel,
        target: place.target ?? place.chat,
        text: wordsFor(result, code),
        buttons: [],
        sessionId: null,
        answers: { channel, externalId },
      });
      deps.poke();
    },
    async approve(code, role) {
      const result = await store.approvePairing(hashOfCode(code), role, pairingLimits);
      if (result.kind !== 'approved' || role === 'owner') return result;
      const { channel } = result.person;
      const people = await store.read.people();
      const hasOwner = people.some((one) => one.channel === channel && one.role === 'owner');
      if (hasOwner || deps.hasConfiguredOwners(channel)) return result;
      const person = { ...result.person, role: 'owner' } as const;
      await store.addPerson(person);
      return { kind: 'approved', person };
    },
  };
}

function wordsFor(result: PairingResult, code: string): string {
  switch (result.kind) {
    case 'requested':
      return `I don't know you yet. Whoever runs me can let you in within 15 minutes:\n\ntalaria pairing approve ${code}`;
    case 'pending':
      return 'You were given a code already. Once it is approved you can write to me; it is good for 15 minutes.';
    case 'full':
      return 'Too many people are waiting to be let in. Please write again in a quarter of an hour.';
  }
}

/** Two groups, easy to read out: `7K3QX-0MV9D`. */
export function newCode(random: RandomSource): string {
  const chars = [...random.bytes(codeChars)].map((byte) => alphabet[byte % alphabet.length] ?? '').join('');
  return `${chars.slice(0, codeChars / 2)}-${chars.slice(codeChars / 2)}`;
}

/** However it was typed: small letters, no dash, and letters that look like digits, are all the same code. */
export function hashOfCode(code: string): string {
  const normal = code
    .toUpperCase()
    .replaceAll(/[^A-Z0-9]/g, '')
    .replaceAll('O', '0')
    .replaceAll(/[IL]/g, '1');
  return process.getBuiltinModule('node:crypto').hash('sha256', normal, 'hex');
}
