/**
 * The writing verbs as one table of plain functions: `(database, now, …arguments)`. Arguments and results are plain
 * values, so that a request can wait in a queue and cross to another thread. A verb runs inside a transaction that
 * somebody else opens and closes.
 */
import { admit } from './admit.ts';
import { addApiKey, removeApiKey } from './api-keys.ts';
import { answerCall } from './call-writes.ts';
import { commit } from './commit.ts';
import { claimDeliveries, recordPartSent, settleDelivery } from './deliveries.ts';
import { queueMessage } from './direct-messages.ts';
import { noteDraft } from './drafts.ts';
import { addGrant, removeGrant } from './grants.ts';
import { importSession } from './import-session.ts';
import { restKey, wakeKey } from './key-rests.ts';
import { acquireLease, releaseLease, renewLeases } from './leases.ts';
import type { Database } from './open-database.ts';
import { approvePairing, requestPairing } from './pairings.ts';
import { dropParked, retryParked } from './parked-turns.ts';
import { addPerson, recordRefusal, removePerson } from './people.ts';
import { changeSettings } from './session-labels.ts';
import { closeSession, deleteSession, reopenSession, requestStop } from './whole-sessions.ts';

export const verbs = {
  admit,
  acquireLease,
  renewLeases,
  releaseLease,
  commit,
  requestStop,
  answerCall,
  closeSession,
  reopenSession,
  queueMessage,
  noteDraft,
  requestPairing,
  approvePairing,
  addPerson,
  removePerson,
  recordRefusal,
  addApiKey,
  removeApiKey,
  addGrant,
  removeGrant,
  changeSettings,
  restKey,
  wakeKey,
  claimDeliveries,
  recordPartSent,
  settleDelivery,
  retryParked,
  dropParked,
  deleteSession,
  importSession,
} as const;

export type Verb = keyof typeof verbs;
export type VerbArguments<V extends Verb> = (typeof verbs)[V] extends (
  database: Database,
  now: number,
  ...rest: infer Rest
) => unknown
  ? Rest
  : never;
export type VerbResult<V extends Verb> = ReturnType<(typeof verbs)[V]>;

export interface WriteRequest {
  readonly verb: Verb;
  /** Time is the asker's: the thread that writes has no clock of its own. */
  readonly now: number;
  readonly arguments: readonly unknown[];
}

export function perform(database: Database, request: WriteRequest): unknown {
  const verb = verbs[request.verb] as (database: Database, now: number, ...rest: readonly unknown[]) => unknown;
  return verb(database, request.now, ...request.arguments);
}
