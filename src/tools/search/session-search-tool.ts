/**
 * The tool `session_search`: what was said in earlier conversations of the same owner, by words or by time, and reading on
 * around a hit. Nobody finds what is somebody else's; and where others read along, nothing of a private chat comes up: a
 * group finds what was said in that group.
 *
 * Old messages may hold what a stranger wrote: a result that does is marked like the page or the mail it came from.
 */
import * as z from 'zod/mini';
import type { SearchHit } from '../../protocol/api.ts';
import type { SessionId } from '../../protocol/ids.ts';
import type { Entry, UntrustedSource } from '../../protocol/messages.ts';
import { defineTool } from '../define-tool.ts';
import type { Tool, ToolOutcome } from '../tool.ts';
import { momentOf } from '../../lib/moment.ts';
import { around, hitText, sayableEntries, untrustedAmong } from './show-messages.ts';
import { placeOfKey } from './place-of-key.ts';

const hitsByDefault = 8;
const hitsMax = 30;
/** Asked for, so that enough are left once those of other places are left out. */
const hitsLookedAt = 500;
/** And how often, further back each time. */
const looksMax = 8;
/** Entries read before a place, so that the turn of a message is known from its beginning. */
const entriesBefore = 200;
const messagesAround = 6;
const entriesAround = 40;

export interface FoundSession {
  readonly id: SessionId;
  readonly name: string;
  readonly key: string;
  readonly owner: string;
}

export interface SessionSearchDeps {
  readonly search: (
    query: string,
    limit: number,
    scope: { readonly owner: string; readonly after?: number; readonly before?: number },
  ) => Promise<readonly SearchHit[]>;
  readonly session: (id: SessionId) => Promise<FoundSession | null>;
  readonly sessionByName: (name: string) => Promise<FoundSession | null>;
  readonly entries: (
    id: SessionId,
    page: { readonly after: number; readonly limit: number },
  ) => Promise<readonly Entry[]>;
}

const schema = z.strictObject({
  query: z.optional(z.string()),
  after: z.optional(z.string().check(z.describe('2026-03-01 or 2026-03-01T09:30'))),
  before: z.optional(z.string()),
  limit: z.optional(z.int().check(z.minimum(1), z.maximum(hitsMax))),
  session: z.optional(z.string()),
  around: z.optional(z.int().check(z.minimum(1))),
});

type Input = z.output<typeof schema>;

export function createSessionSearchTool(deps: SessionSearchDeps): Tool<Input> {
  return defineTool({
    name: 'session_search',
    description:
      'Finds what was said in earlier conversations: by words, by time, or around message # of a session that was found.',
    effect: 'read',
    replay: 'safe',
    schema,
    async run(input, { sessionId }) {
      const own = await deps.session(sessionId);
      if (own === null) return failed('This conversation has been removed.');
      if (input.around !== undefined || input.session !== undefined) return readAround(deps, own, input);
      return find(deps, own, input);
    },
  });
}

async function find(deps: SessionSearchDeps, own: FoundSession, input: Input): Promise<ToolOutcome> {
  const [after, before] = [momentOf(input.after), momentOf(input.before)];
  if (after === null || before === null) {
    return failed('`after` and `before` are days or times like 2026-03-01 or 2026-03-01T09:30.');
  }
  const query = input.query?.trim() ?? '';
  if (query === '' && after === undefined && before === undefined) {
    return failed('Say what to look for: `query`, or `after` and `before`, or `session` and `around`.');
  }
  const limit = input.limit ?? hitsByDefault;
  const span = { ...(after === undefined ? {} : { after }), ...(before === undefined ? {} : { before }) };
  const shown: string[] = [];
  let untrusted: UntrustedSource | null = null;
  for (const hit of await readableHits(deps, own, query, limit, span)) {
    const entries = await entriesUpTo(deps, hit.sessionId, hit.seq + messagesAround, entriesBefore);
    const neighbours = around(entries, hit.seq, 1);
    untrusted ??= untrustedAmong(entries, neighbours);
    shown.push(hitText(hit, neighbours, hit.sessionId === own.id));
  }
  if (shown.length === 0) return { kind: 'finished', text: 'Nothing was found.' };
  return finished([...shown, 'Read on with `session` and `around`.'].join('\n\n'), untrusted);
}

interface TimeSpan {
  readonly after?: number;
  readonly before?: number;
}

/** Hits of other places may come before those of this one: then it is looked further back. */
async function readableHits(
  deps: SessionSearchDeps,
  own: FoundSession,
  query: string,
  limit: number,
  span: TimeSpan,
): Promise<readonly SearchHit[]> {
  const isAlone = placeOfKey(own.key) === null;
  const wanted = isAlone ? limit : hitsLookedAt;
  const hits = new Map<string, SearchHit>();
  let { before } = span;
  for (let look = 0; look < (isAlone ? 1 : looksMax); look += 1) {
    const scope = { ...span, ...(before === undefined ? {} : { before }), owner: own.owner };
    const found = await deps.search(query, wanted, scope);
    for (const hit of found) {
      const session = await deps.session(hit.sessionId);
      if (session !== null && mayRead(own, session)) hits.set(`${hit.sessionId} ${hit.seq}`, hit);
      if (hits.size >= limit) return [...hits.values()];
    }
    const last = found.at(-1);
    if (last === undefined || found.length < wanted || last.at === before) break;
    before = last.at;
  }
  return [...hits.values()];
}

async function readAround(deps: SessionSearchDeps, own: FoundSession, input: Input): Promise<ToolOutcome> {
  const { session: name, around: seq } = input;
  if (name === undefined || seq === undefined) return failed('`session` and `around` go together.');
  const session = (await deps.sessionByName(name)) ?? (await deps.session(name as SessionId));
  // Whether there is one of somebody else's is nobody's business.
  if (session === null || !mayRead(own, session)) return failed(`There is no conversation ${JSON.stringify(name)}.`);
  const entries = await entriesUpTo(deps, session.id, seq + entriesAround, entriesBefore + entriesAround);
  const shown = around(entries, seq, messagesAround);
  if (shown.length === 0) return failed(`There is no message #${seq} in ${JSON.stringify(session.name)}.`);
  return finished([`${session.name}:`, ...sayableEntries(shown, seq)].join('\n\n'), untrustedAmong(entries, shown));
}

/** Their own, and from a place that others read along only what was said in that place. */
function mayRead(own: FoundSession, other: FoundSession): boolean {
  if (other.owner !== own.owner) return false;
  const place = placeOfKey(own.key);
  return place === null || placeOfKey(other.key) === place;
}

function entriesUpTo(deps: SessionSearchDeps, id: SessionId, last: number, before: number): Promise<readonly Entry[]> {
  const after = Math.max(0, last - before);
  return deps.entries(id, { after, limit: last - after });
}

function finished(text: string, untrusted: UntrustedSource | null): ToolOutcome {
  return { kind: 'finished', text, ...(untrusted === null ? {} : { untrusted }) };
}

function failed(text: string): ToolOutcome {
  return { kind: 'failed', text };
}
