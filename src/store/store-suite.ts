/**
 * The contract suite: what every driver of the store must do, whatever it is built on. A driver's test calls
 * `runStoreSuite` once for each way of running it; the parts are in the `*-suite.ts` files beside this one.
 */
import { describe, it } from 'node:test';
import { FakeClock } from '../lib/fake-clock.ts';
import { countingIdSource } from '../lib/ids.ts';
import { admissionSuite } from './admission-suite.ts';
import { budgetSuite } from './budget-suite.ts';
import { closingSuite } from './closing-suite.ts';
import { commitSuite } from './commit-suite.ts';
import { compressSuite } from './compress-suite.ts';
import { contentSuite } from './content-suite.ts';
import { deliverySuite } from './delivery-suite.ts';
import { directMessageSuite } from './direct-message-suite.ts';
import { draftSuite } from './draft-suite.ts';
import { FakeConversation } from './fake-conversation.ts';
import type { Declare, OpenStore } from './fake-world.ts';
import { grantSuite } from './grant-suite.ts';
import { keyRestSuite } from './key-rest-suite.ts';
import { leaseSuite } from './lease-suite.ts';
import { modelCallSuite } from './model-call-suite.ts';
import { pairingSuite } from './pairing-suite.ts';
import { parkedSuite } from './parked-suite.ts';
import { peopleSuite } from './people-suite.ts';
import { questionSuite } from './question-suite.ts';
import { readSuite } from './read-suite.ts';
import { reopenSuite } from './reopen-suite.ts';
import { rewindSuite } from './rewind-suite.ts';
import { searchSuite } from './search-suite.ts';
import { sentFileSuite } from './sent-file-suite.ts';
import { settingsSuite } from './settings-suite.ts';
import { trailSuite } from './trail-suite.ts';
import { transitionSuite } from './transition-suite.ts';
import { usageSuite } from './usage-suite.ts';
import { wholeSessionSuite } from './whole-session-suite.ts';

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
    compressSuite(declare);
    transitionSuite(declare);
    readSuite(declare);
    modelCallSuite(declare);
    trailSuite(declare);
    usageSuite(declare);
    budgetSuite(declare);
    keyRestSuite(declare);
    settingsSuite(declare);
    contentSuite(declare);
    deliverySuite(declare);
    sentFileSuite(declare);
    grantSuite(declare);
    directMessageSuite(declare);
    draftSuite(declare);
    peopleSuite(declare);
    pairingSuite(declare);
    parkedSuite(declare);
    rewindSuite(declare);
    closingSuite(declare);
    questionSuite(declare);
    wholeSessionSuite(declare);
    searchSuite(declare);
    reopenSuite(declare);
  });
}
