/** Parts broken on purpose, each as one mistake that somebody could make. The simulation must find every one of them. */
import type { SessionId } from '../../src/protocol/ids.ts';
import type { SessionWrite } from '../../src/store/store.ts';
import type { WrapStore } from './world.ts';

export const brokenParts: Readonly<Record<string, WrapStore>> = {
  'a store that does not look at leases': (store, { data }) => ({
    ...store,
    commit(lease, writes) {
      const current = data.sessions.get(lease.sessionId)?.lease;
      const isHeld = current !== null && current !== undefined && current.state === 'held';
      return store.commit(isHeld ? { ...lease, owner: current.owner, token: current.token } : lease, writes);
    },
  }),

  'a tool that runs before its start is stored': (store) => {
    const unstored = new Map<SessionId, SessionWrite[]>();
    return {
      ...store,
      async commit(lease, writes) {
        const before = unstored.get(lease.sessionId) ?? [];
        if (writes.every((write) => write.verb === 'start-call')) {
          unstored.set(lease.sessionId, [...before, ...writes]);
          return;
        }
        unstored.delete(lease.sessionId);
        await store.commit(lease, [...before, ...writes]);
      },
    };
  },

  'an intake that takes a repeated message for a new one': (store) => ({
    ...store,
    admit: (admission) => store.admit({ ...admission, externalId: `${admission.externalId} ${admission.inboxId}` }),
  }),

  'a store that answers before it has written': (store) => ({
    ...store,
    async commit(lease, writes) {
      store.commit(lease, writes).catch(() => {});
    },
  }),

  'a failed write that is swallowed': (store) => ({
    ...store,
    commit: (lease, writes) => store.commit(lease, writes).catch(() => {}),
  }),

  'an admission that is acknowledged although it failed': (store) => ({
    ...store,
    async admit(admission) {
      try {
        return await store.admit(admission);
      } catch (error) {
        const key = admission.session.kind === 'by-key' ? await store.read.sessionByKey(admission.session.key) : null;
        if (key === null) throw error;
        return { kind: 'admitted', inboxId: admission.inboxId, session: key, created: false };
      }
    },
  }),

  'a turn that closes without its reply': (store) => ({
    ...store,
    commit: (lease, writes) =>
      store.commit(
        lease,
        writes.map((write) => (write.verb === 'close-turn' ? { ...write, reply: null } : write)),
      ),
  }),

  'a question that is put to nobody': (store) => ({
    ...store,
    commit: (lease, writes) =>
      store.commit(
        lease,
        writes.map((write) => (write.verb === 'ask' ? { ...write, reply: null } : write)),
      ),
  }),

  'messages taken in any order': (store) => ({
    ...store,
    read: {
      ...store.read,
      async journal(id, afterSeq) {
        const journal = await store.read.journal(id, afterSeq);
        return journal === null ? null : { ...journal, waiting: journal.waiting.toReversed() };
      },
    },
  }),

  'a log that is not the same when it is read again': (store) => {
    let reads = 0;
    return {
      ...store,
      read: {
        ...store.read,
        async journal(id, afterSeq) {
          const journal = await store.read.journal(id, afterSeq);
          if (journal === null || afterSeq > 0) return journal;
          reads += 1;
          const entries = journal.entries.map((entry) =>
            entry.kind === 'head'
              ? { ...entry, head: { ...entry.head, systemPrompt: `${entry.head.systemPrompt} ${reads}` } }
              : entry,
          );
          return { ...journal, entries };
        },
      },
    };
  },

  'a delivery that forgets an attempt whose outcome is unknown': (store) => ({
    ...store,
    async claimDeliveries(owner, limit, channels) {
      const claimed = await store.claimDeliveries(owner, limit, channels);
      return claimed.map((record) => ({ ...record, maybeSent: false }));
    },
  }),

  'a delivery that begins with its first part again': (store) => ({
    ...store,
    async claimDeliveries(owner, limit, channels) {
      const claimed = await store.claimDeliveries(owner, limit, channels);
      return claimed.map((record) => ({ ...record, partsSent: 0 }));
    },
  }),

  'crashes that nobody counts': (store, { data }) => ({
    ...store,
    async acquireLease(id, owner, ttlMs) {
      const lease = await store.acquireLease(id, owner, ttlMs);
      const session = data.sessions.get(id);
      const turn = session === undefined ? null : data.openTurnOf(session);
      if (lease !== null && turn !== null) turn.crashes = 0;
      return lease;
    },
  }),

  'a budget that nobody looks at': (store) => ({
    ...store,
    commit: (lease, writes) =>
      store.commit(
        lease,
        writes.map((write) =>
          write.verb === 'start-model-call' ? { ...write, budget: { sessionUsd: 0, dayUsd: 0 } } : write,
        ),
      ),
  }),

  'reservations that nobody stores': (store) => ({
    ...store,
    commit: (lease, writes) =>
      store.commit(
        lease,
        writes.map((write) => (write.verb === 'start-model-call' ? { ...write, reservedUsd: 0 } : write)),
      ),
  }),

  'model calls that nobody ends': (store) => ({
    ...store,
    commit: (lease, writes) =>
      store.commit(
        lease,
        writes.filter((write) => write.verb !== 'end-model-call'),
      ),
  }),

  'a prompt that is compared with that of another session': (store, { data }) => ({
    ...store,
    read: {
      ...store.read,
      async promptTrail(id, runtime) {
        const [other] = data.sessions.keys();
        return store.read.promptTrail(other ?? id, runtime);
      },
    },
  }),

  'a stop that nobody stores': (store) => ({
    ...store,
    requestStop: async () => true,
  }),

  'a lease that is never given back': (store) => ({
    ...store,
    releaseLease: async () => {},
  }),
};
