/**
 * Who performs the writing verbs. `inline`: on this thread, each verb a transaction; no thread to start, for short
 * commands and tests. `thread`: in the writer thread with group commit; the main loop never waits for the disk.
 * Both run the same verbs, and a promise resolves only when its write is durable.
 */
import type { Clock } from '../../lib/clock.ts';
import { present } from '../../lib/assert.ts';
import { commitTogether } from './group-commit.ts';
import type { Database } from './open-database.ts';
import { closed, ThreadLink } from './thread-link.ts';
import type { Verb, VerbArguments, VerbResult, WriteRequest } from './verbs.ts';

export interface Writer {
  write<V extends Verb>(verb: V, ...args: VerbArguments<V>): Promise<VerbResult<V>>;
  /** Waits for writes under way; later ones fail. Idempotent. */
  close(): Promise<void>;
}

export function createInlineWriter(deps: { readonly database: Database; readonly clock: Clock }): Writer {
  let isClosed = false;
  return {
    async write<V extends Verb>(verb: V, ...args: VerbArguments<V>) {
      if (isClosed) throw closed('store');
      const request: WriteRequest = { verb, now: deps.clock.now(), arguments: args };
      const outcome = present(commitTogether(deps.database, [request])[0], 'the outcome of a write');
      if (!outcome.ok) throw outcome.error;
      return outcome.value as VerbResult<V>;
    },
    async close() {
      isClosed = true;
    },
  };
}

export function createThreadWriter(deps: { readonly path: string; readonly clock: Clock }): Writer {
  const entry = new URL(import.meta.url.endsWith('.ts') ? './writer-thread.ts' : './store-writer.js', import.meta.url);
  const link = new ThreadLink({ entry, data: { path: deps.path }, name: 'store writer' });
  return {
    async write<V extends Verb>(verb: V, ...args: VerbArguments<V>) {
      const request: WriteRequest = { verb, now: deps.clock.now(), arguments: args };
      return (await link.request(request)) as VerbResult<V>;
    },
    close: () => link.close(),
  };
}
