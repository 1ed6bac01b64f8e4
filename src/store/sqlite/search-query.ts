/**
 * Answers a search: the index says which messages may have what is asked for, newest first; the messages themselves, read
 * from `state.db`, say which have, and whose they are. Work is bounded by the hits wanted, not by how common the words are.
 */
import type { SearchHit } from '../../protocol/api.ts';
import type { EntryBody } from '../../protocol/messages.ts';
import { matchText, searchTerms, type SearchTerm } from '../search-terms.ts';
import type { SearchScope } from '../store.ts';
import type { Database } from './open-database.ts';
import { dayMs, searchableText } from './search-feed.ts';
import { allOf, expressionOf, ownerToken, type Manner } from './search-tokens.ts';

/** How many candidates are taken from the index at a time, at least. */
const pageMin = 20;
/** Of text that is looked at in vain before it is given up: only data that looks like everything comes to this. */
const vainCharsMax = 8_000_000;

interface Search {
  readonly index: Database;
  readonly state: Database;
  readonly terms: readonly SearchTerm[];
  readonly limit: number;
  /** As JSON; null: everybody's. */
  readonly owner: string | null;
  readonly after: number;
  readonly before: number;
  readonly firstId: number;
  readonly lastId: number;
}

interface Candidate {
  readonly entryId: number;
  readonly at: number;
}

export function findMessages(
  index: Database,
  state: Database,
  query: string,
  limit: number,
  scope: SearchScope,
): SearchHit[] {
  const terms = searchTerms(query);
  const hasTime = scope.after !== undefined || scope.before !== undefined;
  if (terms.length === 0 && (!hasTime || query.trim() !== '')) return [];
  const owner = scope.owner === undefined ? null : JSON.stringify(scope.owner);
  const whose = owner === null ? [] : ownerTokens(index, owner);
  if (whose === null) return [];
  const [after, before] = [scope.after ?? -Infinity, scope.before ?? Infinity];
  const search = { index, state, terms, limit, owner, after, before, ...idsBetween(index, after, before) };
  const owners = whose.length === 0 ? null : allOf(whose);
  const seen = new Set<number>();
  if (terms.length === 0) return take(search, owners, 'parts', seen);
  return (['whole', 'parts'] as const).flatMap((manner) => {
    const expression = expressionOf(terms, manner);
    if (expression === null || seen.size >= limit) return [];
    return take(search, owners === null ? expression : `${owners} AND ${expression}`, manner, seen);
  });
}

/** Null for somebody of whom nothing is known. */
function ownerTokens(index: Database, owner: string): string[] | null {
  const row = index.get<{ number: number }>('SELECT number FROM owners WHERE owner = ?', owner);
  return row === undefined ? null : [ownerToken(row.number)];
}

function idsBetween(index: Database, after: number, before: number): { firstId: number; lastId: number } {
  const [firstDay, lastDay] = [dayOf(after), dayOf(before)];
  const sql = 'SELECT min(first_id) AS firstId, max(last_id) AS lastId FROM days WHERE day BETWEEN ? AND ?';
  const row = index.get<{ firstId: number | null; lastId: number | null }>(sql, firstDay, lastDay);
  return { firstId: row?.firstId ?? 0, lastId: row?.lastId ?? -1 };
}

/** Beyond every day there is, where no time is given. */
const daysMax = 1e9;

function dayOf(time: number): number {
  return Math.max(-daysMax, Math.min(daysMax, Math.floor(time / dayMs)));
}

/** Hits not `seen` yet, until there are enough; they are seen from now on. */
function take(search: Search, expression: string | null, manner: Manner, seen: Set<number>): SearchHit[] {
  const { limit, after, before } = search;
  const hits: SearchHit[] = [];
  let lastId = search.lastId;
  let vainChars = 0;
  while (seen.size < limit && vainChars < vainCharsMax) {
    const pageSize = Math.max(pageMin, limit - seen.size);
    const page = candidates(search, expression, lastId, pageSize);
    for (const { entryId, at } of page) {
      if (seen.size >= limit) break;
      lastId = entryId - 1;
      if (seen.has(entryId) || at < after || at >= before) continue;
      const found = hitAt(search, manner, entryId);
      if (typeof found === 'number') vainChars += found;
      else {
        seen.add(entryId);
        hits.push(found);
      }
    }
    if (page.length < pageSize) break;
  }
  return hits;
}

function candidates(
  { index, firstId }: Search,
  expression: string | null,
  lastId: number,
  limit: number,
): readonly Candidate[] {
  if (expression === null) {
    const sql = `SELECT entry_id AS entryId, at FROM places WHERE entry_id BETWEEN ? AND ? ORDER BY entry_id DESC LIMIT ?`;
    return index.all<Candidate>(sql, firstId, lastId, limit);
  }
  return index.all<Candidate>(
    `SELECT places.entry_id AS entryId, at FROM tokens CROSS JOIN places ON places.entry_id = tokens.rowid
     WHERE tokens MATCH ? AND tokens.rowid BETWEEN ? AND ? ORDER BY tokens.rowid DESC LIMIT ?`,
    expression,
    firstId,
    lastId,
    limit,
  );
}

/** Or how much text was looked at in vain. */
function hitAt({ state, terms, owner }: Search, manner: Manner, entryId: number): SearchHit | number {
  const row = state.get<Omit<SearchHit, 'role' | 'snippet'> & { body: string; owner: string }>(
    `SELECT session_id AS sessionId, name AS sessionName, seq, at, body, owner
     FROM entries JOIN sessions ON sessions.id = session_id WHERE entries.id = ?`,
    entryId,
  );
  // Removed a moment ago. Whose it is, is for the database to say: the index is only a copy.
  if (row === undefined || (owner !== null && row.owner !== owner)) return 0;
  const { body, owner: _owner, ...place } = row;
  const entry = JSON.parse(body) as EntryBody;
  const text = searchableText(entry);
  const match = text === null ? null : matchText(text, terms);
  if (text === null || match === null || entry.kind !== 'message') return text?.length ?? 0;
  if (manner === 'whole' && !match.isWhole) return text.length;
  return { ...place, role: entry.message.role, snippet: match.snippet };
}
