/**
 * The long jobs: search, copy, check. Plain functions on connections of their own, hosted by the background thread; for
 * a database in memory, by whoever owns it.
 */
import { unreachable } from '../../lib/assert.ts';
import type { SearchScope } from '../store.ts';
import { checkIntegrity } from './check-integrity.ts';
import { copyDatabase } from './copy-database.ts';
import type { Database } from './open-database.ts';
import { SearchIndex } from './search-index.ts';

export type BackgroundJob =
  /** Short; the result says whether there is more to feed. */
  | { readonly job: 'feed' }
  | { readonly job: 'merge' }
  | { readonly job: 'search'; readonly query: string; readonly limit: number; readonly scope: SearchScope }
  /** Short as well; the result says whether there is more to do. */
  | { readonly job: 'rebuild' }
  | { readonly job: 'copy'; readonly path: string }
  | { readonly job: 'check' };

export interface BackgroundWork {
  run(job: BackgroundJob): unknown;
  close(): void;
}

/** `state` may be read-only, and stays the caller's to close. */
export function createBackgroundWork(deps: { readonly state: Database; readonly searchPath: string }): BackgroundWork {
  const index = new SearchIndex(deps.state, deps.searchPath);
  return {
    run(job) {
      switch (job.job) {
        case 'feed':
          return index.feed();
        case 'merge':
          return index.merge();
        case 'search':
          return index.search(job.query, job.limit, job.scope);
        case 'rebuild':
          return index.rebuild();
        case 'copy':
          return copyDatabase(deps.state, job.path);
        case 'check':
          return checkIntegrity(deps.state);
        default:
          return unreachable(job);
      }
    },
    close: () => index.close(),
  };
}
