/**
 * The contract suite: what every driver of the store must do, whatever it is built on. A driver's test calls
 * `runStoreSuite` once for each way of running it; the parts are in the `*-suite.ts` files beside this one.
 */
import { describe, it, type TestContext } from 'node:test';
import { FakeClock } from '../lib/fake-clock.ts';
import { countingIdSource, type IdSource } from '../lib/ids.ts';
import type { NodeId } from '../protocol/ids.ts';
import { admissionSuite } from './admission-suite.ts';
import { commitSuite } from './commit-suite.ts';
import { deliverySuite } from './delivery-suite.ts';
import { FakeConversation } from './fake-conversation.ts';
import { leaseSuite } from './lease-suite.ts';
import { readSuite } from './read-suite.ts';
import { reopenSuite } from './reopen-suite.ts';
import { searchSuite } from './search-suite.ts';
import { transitionSuite } from './transition-suite.ts';
import { wholeSessionSuite } from './whole-session-suite.ts';
import type { Store } from './store.ts';

export interface OpenStoreOptions {
  readonly clock: FakeClock;
  readonly owner: NodeId;
}

export interface OpenedStore {
  readonly store: Store;
  /** Closes the store without giving anything up and opens the same data anew; null if nothing outlives a close. */
  readonly reopen: ((owner: NodeId) => Promise<Store>) | null;
  cleanup(): Promise<void>;
}

export type OpenStore = (options: OpenStoreOptions) => Promise<OpenedStore>;

/** What a test of the suite works with: an empty store, time that stands still, ids that count. */
export interface SuiteWorld {
  readonly store: Store;
  readonly clock: FakeClock;
  readonly ids: IdSource;
  readonly owner: NodeId;
  readonly reopen: OpenedStore['reopen'];
  readonly conversation: (name: string) => FakeConversation;
}

export type SuiteTest = (world: SuiteWorld, context: TestContext) => Promise<void>;
/** Declares one test of the suite. */
export type Declare = (name: string, test: SuiteTest) => void;

/** Most of a test's time is waiting for the disk or for a thread to start. */
const testsAtOnce = 8;

export function runStoreSuite(name: string, open: OpenStore): void {
  void describe(`store contract, ${name}`, { concurrency: testsAtOnce }, () => {
    const declare: Declare = (title, test) =>
      void it(title, async (context) => {
        const clock = new FakeClock();
        const ids = countingIdSource();
        const owner = ids.next('nod');
        const opened = await open({ clock, owner });
        const conversation = (called: string) => new FakeConversation(opened.store, ids, called, owner);
        try {
          await test({ store: opened.store, clock, ids, owner, reopen: opened.reopen, conversation }, context);
        } finally {
          await opened.cleanup();
        }
      });
    admissionSuite(declare);
    leaseSuite(declare);
    commitSuite(declare);
    transitionSuite(declare);
    readSuite(declare);
    deliverySuite(declare);
    wholeSessionSuite(declare);
    searchSuite(declare);
    reopenSuite(declare);
  });
}
