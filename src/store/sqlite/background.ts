/**
 * Where the long jobs run. For a file: in a thread that starts with the first job and ends after a while without any.
 * For a database in memory: at once, on the caller's connection, because no other thread could see it.
 */
import type { Log } from '../../lib/log.ts';
import type { SearchHit } from '../../protocol/api.ts';
import type { SearchScope } from '../store.ts';
import { createBackgroundWork, type BackgroundJob } from './background-work.ts';
import type { Database } from './open-database.ts';
import { closed, ThreadLink } from './thread-link.ts';

const idleEndMs = 60_000;
/** Commits of this long are fed to the search index together. */
const feedDelayMs = 1000;

export interface Background {
  search(query: string, limit: number, scope?: SearchScope): Promise<readonly SearchHit[]>;
  rebuildSearch(): Promise<void>;
  copy(path: string): Promise<void>;
  check(): Promise<readonly string[]>;
  /** Something was committed: the search index may follow soon. Never fails. */
  pokeSearch(): void;
  /** Idempotent. */
  close(): Promise<void>;
}

export function createInlineBackground(deps: { readonly database: Database }): Background {
  const work = createBackgroundWork({ state: deps.database, searchPath: ':memory:' });
  return {
    ...asJobs(async (job) => work.run(job)),
    pokeSearch: () => {},
    close: async () => work.close(),
  };
}

export interface ThreadBackgroundDeps {
  readonly path: string;
  readonly searchPath: string;
  readonly log: Log;
}

export function createThreadBackground(deps: ThreadBackgroundDeps): Background {
  const entry = new URL(
    import.meta.url.endsWith('.ts') ? './background-thread.ts' : './store-background.js',
    import.meta.url,
  );
  const data = { path: deps.path, searchPath: deps.searchPath };
  let link: ThreadLink | null = null;
  let endTimer: NodeJS.Timeout | undefined;
  let feedTimer: NodeJS.Timeout | undefined;
  let isClosed = false;

  // Timers of the runtime and not of the clock: they must not keep the process alive, and no behaviour hangs on them.
  const endWhenIdle = () => {
    clearTimeout(endTimer);
    if (isClosed) return;
    endTimer = setTimeout(() => {
      if (link?.idle !== true) return;
      void link.close();
      link = null;
    }, idleEndMs).unref();
  };
  const run = async (job: BackgroundJob) => {
    if (isClosed) throw closed('store');
    if (link?.alive !== true) link = new ThreadLink({ entry, data, name: 'background thread of the store' });
    endWhenIdle();
    return link.request(job).finally(endWhenIdle);
  };
  const feed = () => {
    feedTimer = undefined;
    feedAndMerge(run).catch((error: unknown) => deps.log.warn('the search index could not follow', { error }));
  };
  return {
    ...asJobs(run),
    pokeSearch() {
      if (!isClosed) feedTimer ??= setTimeout(feed, feedDelayMs).unref();
    },
    async close() {
      isClosed = true;
      clearTimeout(feedTimer);
      clearTimeout(endTimer);
      await link?.close();
    },
  };
}

type RunJob = (job: BackgroundJob) => Promise<unknown>;

function asJobs(run: RunJob): Omit<Background, 'pokeSearch' | 'close'> {
  return {
    async search(query, limit, scope = {}) {
      await feedAll(run);
      return (await run({ job: 'search', query, limit, scope })) as readonly SearchHit[];
    },
    async rebuildSearch() {
      while ((await run({ job: 'rebuild' })) === true);
    },
    copy: async (path) => void (await run({ job: 'copy', path })),
    check: async () => (await run({ job: 'check' })) as readonly string[],
  };
}

async function feedAndMerge(run: RunJob): Promise<void> {
  await feedAll(run);
  while ((await run({ job: 'merge' })) === true);
}

/** In short steps, so that closing the store or a search by somebody else need not wait for a whole rebuild. */
async function feedAll(run: RunJob): Promise<void> {
  while ((await run({ job: 'feed' })) === true);
}
