/**
 * The store in memory, for the simulation: the same contract as SQLite, and it passes the same suite. The data outlives
 * the handle. Every write and read goes through a gate, which may let it through at once, later, or never.
 */
import type { Clock } from '../../src/lib/clock.ts';
import { StoreError, type Store } from '../../src/store/store.ts';
import { applyWrites, requireLease } from './memory-commit.ts';
import { conflict, frozenCopy, pair, Transaction, type MemoryData } from './memory-data.ts';
import { claimDeliveries, noteDraft, queueMessage, recordPartSent, settleDelivery } from './memory-deliveries.ts';
import { loseModelCalls } from './memory-model-calls.ts';
import {
  addApiKey,
  addGrant,
  addPerson,
  approvePairing,
  recordRefusal,
  removeApiKey,
  removeGrant,
  removePerson,
  requestPairing,
} from './memory-people.ts';
import { createMemoryReader, type LetRead } from './memory-reads.ts';
import { searchData } from './memory-search.ts';
import { acquireLease, admit, answerCall, releaseLease } from './memory-verbs.ts';
import {
  closeSession,
  deleteSession,
  dropParked,
  importSession,
  reopenSession,
  retryParked,
} from './memory-whole-sessions.ts';

/** Writes of one lane happen in the order they were asked for; those of different lanes may overtake each other. */
export type LetWrite = <T>(lane: string, verb: string, apply: () => T) => Promise<T>;

export interface MemoryStoreOptions {
  readonly data: MemoryData;
  readonly clock: Clock;
  readonly letWrite?: LetWrite;
  readonly letRead?: LetRead;
}

/** For a process that has just begun and is alone: what was held, attempted or asked has no owner any more. */
export function takeOver(data: MemoryData, now: number): void {
  const on = new Transaction(data, now);
  for (const session of data.sessions.values()) {
    if (session.lease?.state === 'held') session.lease.state = 'abandoned';
    loseModelCalls(on, session);
  }
  for (const row of data.outbox.values()) {
    if (row.state === 'attempting') Object.assign(row, { state: 'pending', maybeSent: true });
  }
}

const atOnce: LetWrite = async (_lane, _verb, apply) => apply();

export function openMemoryStore({ data, clock, letWrite = atOnce, letRead }: MemoryStoreOptions): Store {
  let isClosed = false;
  const requireUsable = () => {
    if (isClosed) throw new StoreError('unavailable', 'The store is closed.');
  };
  const read: LetRead = async (look) => {
    requireUsable();
    return letRead === undefined ? look() : letRead(look);
  };
  /** One verb, one transaction: what fails leaves nothing behind. */
  const write = async <T>(lane: string, verb: string, apply: (on: Transaction) => T): Promise<T> => {
    requireUsable();
    const now = clock.now();
    return letWrite(lane, verb, () => {
      const transaction = new Transaction(data, now);
      try {
        return apply(transaction);
      } catch (error) {
        transaction.rollback();
        throw error;
      }
    });
  };

  return {
    description: 'in memory',
    read: createMemoryReader(data, read),
    admit: (admission) => write(laneOf(data, admission.session), 'admit', (on) => admit(on, admission)),
    acquireLease: (id, owner, ttlMs) => write(id, 'acquireLease', (on) => acquireLease(on, id, owner, ttlMs)),
    renewLeases: (owner, ttlMs) =>
      write('leases', 'renewLeases', (on) => {
        for (const { lease } of data.sessions.values()) {
          if (lease?.owner === owner && lease.state === 'held') on.assign(lease, { expiresAt: on.now + ttlMs });
        }
      }),
    releaseLease: (lease) => write(lease.sessionId, 'releaseLease', (on) => releaseLease(on, lease)),
    commit: (lease, writes) =>
      write(lease.sessionId, writes.map((each) => each.verb).join('+'), (on) => {
        const session = data.sessions.get(lease.sessionId);
        requireLease(session, lease);
        applyWrites(on, session, writes);
      }),
    requestStop: (id) =>
      write(id, 'requestStop', (on) => {
        const session = data.sessions.get(id);
        const turn = session === undefined ? null : data.openTurnOf(session);
        if (turn !== null) on.assign(turn, { stopRequested: true });
        return turn !== null;
      }),
    answerCall: (id, callId, answer) => write(id, 'answerCall', (on) => answerCall(on, id, callId, answer)),
    closeSession: (id) => write(id, 'closeSession', (on) => closeSession(on, id)),
    reopenSession: (id, key) => write(id, 'reopenSession', (on) => reopenSession(on, id, key)),
    queueMessage: (message) => write('outbox', 'queueMessage', (on) => queueMessage(on, message)),
    noteDraft: (id, draft) => write('outbox', 'noteDraft', (on) => noteDraft(on, id, draft)),
    requestPairing: (request, limits) => write('people', 'requestPairing', (on) => requestPairing(on, request, limits)),
    approvePairing: (codeHash, role, limits) =>
      write('people', 'approvePairing', (on) => approvePairing(on, codeHash, role, limits)),
    addPerson: (person) => write('people', 'addPerson', (on) => void addPerson(on, person)),
    removePerson: (channel, userId) => write('people', 'removePerson', (on) => removePerson(on, channel, userId)),
    recordRefusal: (refusal) => write('people', 'recordRefusal', (on) => recordRefusal(on, refusal)),
    addApiKey: (key) => write('people', 'addApiKey', (on) => addApiKey(on, key)),
    removeApiKey: (name) => write('people', 'removeApiKey', (on) => removeApiKey(on, name)),
    addGrant: (grant) => write('people', 'addGrant', (on) => addGrant(on, grant)),
    removeGrant: (id) => write('people', 'removeGrant', (on) => removeGrant(on, id)),
    changeSettings: (id, settings) =>
      write(id, 'changeSettings', (on) => {
        const session = data.sessions.get(id);
        if (session !== undefined) on.assign(session.record, { settings: frozenCopy(settings) });
        return session !== undefined;
      }),
    restKey: (rest) =>
      write('keys', 'restKey', (on) => {
        const key = pair(rest.provider, rest.keyId);
        const before = data.keyRests.get(key);
        if (before === undefined || rest.until > before.until) on.set(data.keyRests, key, frozenCopy(rest));
      }),
    wakeKey: (provider, keyId) => write('keys', 'wakeKey', (on) => on.delete(data.keyRests, pair(provider, keyId))),
    claimDeliveries: (_owner, limit, channels) =>
      write('outbox', 'claimDeliveries', (on) => claimDeliveries(on, limit, channels)),
    recordPartSent: (id, platformId) => write('outbox', 'recordPartSent', (on) => recordPartSent(on, id, platformId)),
    settleDelivery: (id, settlement) => write('outbox', 'settleDelivery', (on) => settleDelivery(on, id, settlement)),
    retryParked: (id) => write(id, 'retryParked', (on) => retryParked(on, id)),
    dropParked: (id) => write(id, 'dropParked', (on) => dropParked(on, id)),
    deleteSession: (id) => write(id, 'deleteSession', (on) => deleteSession(on, id)),
    importSession: (id, key, owner, session) =>
      write(id, 'importSession', (on) => importSession(on, id, key, owner, session)),
    search: (query, limit, scope) => read(() => searchData(data, query, limit, scope)),
    rebuildSearch: () => read(() => undefined),
    snapshot: () => Promise.reject(conflict('memory has no file to copy')),
    checkIntegrity: () => read(() => []),
    async close() {
      isClosed = true;
    },
  };
}

function laneOf(data: MemoryData, wanted: Parameters<Store['admit']>[0]['session']): string {
  if (wanted.kind === 'existing') return wanted.id;
  return data.openSessionOf(wanted.key)?.record.id ?? wanted.key;
}
