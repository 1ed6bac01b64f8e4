/** What the tests of the contract suite are given, and what a driver's test gives the suite. */
import type { TestContext } from 'node:test';
import type { FakeClock } from '../lib/fake-clock.ts';
import type { IdSource } from '../lib/ids.ts';
import type { NodeId } from '../protocol/ids.ts';
import type { FakeConversation } from './fake-conversation.ts';
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
