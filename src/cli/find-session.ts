/** Looking sessions up for commands: all of them page by page, or one by what the user typed. */
import { nearest } from '../lib/nearest.ts';
import type { SessionSummary, TalariaApi } from '../protocol/api.ts';
import { CliError } from './command.ts';

const pageSize = 200;
/** How many names are looked through to guess what a wrong one meant. */
const namesComparedMax = 1_000;

/** Newest first, each once. */
export async function* allSessions(api: TalariaApi): AsyncGenerator<SessionSummary> {
  let before: number | undefined;
  let lastPage = new Set<string>();
  for (;;) {
    const page = await api.sessions({ limit: pageSize, ...(before === undefined ? {} : { before }) });
    const fresh = page.filter((session) => !lastPage.has(session.id));
    yield* fresh;
    const last = page.at(-1);
    if (last === undefined || page.length < pageSize) return;
    // Sessions changed in the same millisecond must not fall between two pages, so the next one overlaps.
    before = fresh.length > 0 && before !== last.updatedAt + 1 ? last.updatedAt + 1 : last.updatedAt;
    lastPage = new Set(page.map((session) => session.id));
  }
}

/** The session, or a failure that names the nearest one there is. */
export async function findSession(api: TalariaApi, ref: string): Promise<SessionSummary> {
  const session = await api.session(ref);
  if (session !== null) return session;
  const names: string[] = [];
  for await (const { name } of allSessions(api)) if (names.push(name) >= namesComparedMax) break;
  const [close] = nearest(ref, names);
  const advice = close === undefined ? 'see talaria sessions list' : `did you mean ${JSON.stringify(close)}?`;
  throw new CliError('failed', `there is no session ${JSON.stringify(ref.slice(0, 80))}; ${advice}`);
}
