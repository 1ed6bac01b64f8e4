/**
 * The store on SQLite. Puts the parts together and owns opening and closing: verbs go to the writer, reads run here on
 * a connection of their own, long jobs go to the background. The caller holds the home lock of the file's folder.
 */
import { dirname, join } from 'node:path';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import type { NodeId } from '../../protocol/ids.ts';
import type { Store } from '../store.ts';
import { createInlineBackground, createThreadBackground, type Background } from './background.ts';
import { resumeDeliveries } from './deliveries.ts';
import { abandonLeases } from './leases.ts';
import { loseAllModelCalls } from './lost-model-calls.ts';
import type { Database } from './open-database.ts';
import { openStateDatabase } from './open-state-database.ts';
import { createReader } from './reads.ts';
import { migrations as allMigrations, type Migration } from './schema.ts';
import { createInlineWriter, createThreadWriter, type Writer } from './writer.ts';

export interface SqliteStoreOptions {
  /** Of `state.db`; `:memory:` for one that ends with its store and has no thread. */
  readonly path: string;
  readonly clock: Clock;
  readonly log: Log;
  /** Who opens it: whatever another owner left unfinished is free from now on. */
  readonly owner: NodeId;
  readonly writer: 'thread' | 'inline';
  /** By default `search.db` beside the database. */
  readonly searchPath?: string;
  readonly migrations?: readonly Migration[];
}

export async function openSqliteStore(options: SqliteStoreOptions): Promise<Store> {
  const { path, clock, log } = options;
  const isInMemory = path === ':memory:';
  const database = openStateDatabase({ path, migrations: options.migrations ?? allMigrations, log });
  if (!isInMemory) takeOver(database, options);

  const isThreaded = options.writer === 'thread' && !isInMemory;
  const writer = isThreaded ? createThreadWriter({ path, clock }) : createInlineWriter({ database, clock });
  // The connection that opened the database goes on as the reader's; with a writer thread it may write no more.
  if (isThreaded) database.exec('PRAGMA query_only = ON');
  const background = isInMemory
    ? createInlineBackground({ database })
    : createThreadBackground({ path, searchPath: options.searchPath ?? join(dirname(path), 'search.db'), log });
  // A short command leaves feeding the index to whoever searches next.
  const afterCommit = isThreaded ? () => background.pokeSearch() : () => {};
  return assembleStore({ path, database, writer, background, afterCommit });
}

/** The home lock says that no other process is alive: what was held or attempted has no owner any more. */
function takeOver(database: Database, { owner, clock, log }: SqliteStoreOptions): void {
  try {
    const left = database.transaction(() => ({
      leases: abandonLeases(database),
      deliveries: resumeDeliveries(database),
      modelCalls: loseAllModelCalls(database, clock.now()),
    }));
    if (Object.values(left).some((count) => count > 0)) log.info('took over after an unclean end', { owner, ...left });
  } catch (error) {
    database.close();
    throw error;
  }
}

interface Parts {
  readonly path: string;
  readonly database: Database;
  readonly writer: Writer;
  readonly background: Background;
  readonly afterCommit: () => void;
}

function assembleStore({ path, database, writer, background, afterCommit }: Parts): Store {
  const noted = async <T>(writing: Promise<T>): Promise<T> => {
    const result = await writing;
    afterCommit();
    return result;
  };
  let closing: Promise<void> | undefined;
  const close = async () => {
    await background.close();
    await writer.close();
    database.close();
  };
  return {
    description: `SQLite, ${path}`,
    read: createReader(database),
    admit: (admission) => writer.write('admit', admission),
    acquireLease: (sessionId, owner, ttlMs) => writer.write('acquireLease', sessionId, owner, ttlMs),
    renewLeases: (owner, ttlMs) => writer.write('renewLeases', owner, ttlMs),
    releaseLease: (lease) => writer.write('releaseLease', lease),
    commit: (lease, writes) => noted(writer.write('commit', lease, writes)),
    requestStop: (sessionId) => writer.write('requestStop', sessionId),
    answerCall: (sessionId, callId, answer) => writer.write('answerCall', sessionId, callId, answer),
    closeSession: (sessionId) => writer.write('closeSession', sessionId),
    reopenSession: (sessionId, key) => writer.write('reopenSession', sessionId, key),
    queueMessage: (message) => writer.write('queueMessage', message),
    noteDraft: (sessionId, draft) => writer.write('noteDraft', sessionId, draft),
    requestPairing: (request, limits) => writer.write('requestPairing', request, limits),
    approvePairing: (codeHash, role, limits) => writer.write('approvePairing', codeHash, role, limits),
    addPerson: (person) => writer.write('addPerson', person),
    removePerson: (channel, userId) => writer.write('removePerson', channel, userId),
    recordRefusal: (refusal) => writer.write('recordRefusal', refusal),
    addApiKey: (key) => writer.write('addApiKey', key),
    removeApiKey: (name) => writer.write('removeApiKey', name),
    addGrant: (grant) => writer.write('addGrant', grant),
    removeGrant: (id) => writer.write('removeGrant', id),
    changeSettings: (sessionId, settings) => writer.write('changeSettings', sessionId, settings),
    restKey: (rest) => writer.write('restKey', rest),
    wakeKey: (provider, keyId) => writer.write('wakeKey', provider, keyId),
    claimDeliveries: (owner, limit, channels) => writer.write('claimDeliveries', owner, limit, channels ?? null),
    recordPartSent: (id, platformId) => writer.write('recordPartSent', id, platformId),
    settleDelivery: (id, settlement) => writer.write('settleDelivery', id, settlement),
    retryParked: (sessionId) => noted(writer.write('retryParked', sessionId)),
    dropParked: (sessionId) => noted(writer.write('dropParked', sessionId)),
    deleteSession: (id) => noted(writer.write('deleteSession', id)),
    importSession: (id, key, owner, session) => noted(writer.write('importSession', id, key, owner, session)),
    search: (query, limit, scope) => background.search(query, limit, scope),
    rebuildSearch: () => background.rebuildSearch(),
    snapshot: (copyPath) => background.copy(copyPath),
    checkIntegrity: () => background.check(),
    close: () => (closing ??= close()),
  };
}
