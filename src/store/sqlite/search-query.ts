/**
 * Answers a search: the index says which messages may have what is asked for, newest first; the messages themselves, read
 * from `state.db`, say which have, and whose they are. Work is bounded by the hits wanted, not by how common the words are.
 */
import type { SearchHit } from '../../protocol/api.ts';
import type { EntryBody } from '../../protocol/messages.ts';
import { matchText, searchTerms, type SearchTerm } from '../../lib/search-terms.ts';
import type { SearchScope } from '../store.ts';
import type { Database } from './open-database.ts';
import { dayMs, searchableText } from './search-feed.ts';
import {
  conditionsOf,
  expressionFor,
  ownerToken,
  quoted,
  sectionOf,
  type Condition,
  type Manner,
  type WordsWith,
} from './search-tokens.ts';

/** How many candidates are taken from the index at first, and how many times more when they were not enough. */
const pageMin = 20;
const pageGrowth = 8;
/** Messages that are looked at in vain before it is given up: only what hardly anybody means comes to this. */
const vainMax = 2_000;
/** A part that more words than this have is looked for by its letters. */
const wordsOfPartMax = 100;

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
  const whose = owner === null ? [] : ownerConditions(index, owner);
  if (whose === null) return [];
  const [after, before] = [scope.after ?? -Infinity, scope.before ?? Infinity];
  const search = { index, state, terms, limit, owner, after, before, ...idsBetween(index, after, before) };
  const seen = new Set<number>();
  if (terms.length === 0) return take(search, whose, 'parts', seen);
  return (['whole', 'parts'] as const).flatMap((manner) => {
    const conditions = conditionsOf(terms, manner, wordsIn(index));
    if (conditions === null || seen.size >= limit) return [];
    return take(search, [...whose, ...conditions], manner, seen);
  });
}

/** Null for somebody of whom nothing is known. */
function ownerConditions(index: Database, owner: string): readonly Condition[] | null {
  const row = index.get<{ number: number }>('SELECT number FROM owners WHERE owner = ?', owner);
  return row === undefined ? null : [[ownerToken(row.number)]];
}

function wordsIn(index: Database): WordsWith {
  return (part) => {
    const sql = 'SELECT word FROM parts WHERE parts MATCH ? LIMIT ?';
    const words = index.all<{ word: string }>(sql, quoted(part), wordsOfPartMax + 1).map(({ word }) => word);
    return words.length > wordsOfPartMax ? null : words;
  };
}

function idsBetween(index: Database, after: number, before: number): { firstId: number; lastId: number } {
  const [firstDay, lastDay] = [dayOf(after), dayOf(before)];
  const sql = 'SELECT min(first_id) AS firstId, max(last_id) AS lastId FROM days WHERE day BETWEEN ? AND ?';
  const row = index.get<{ firstId: number | null; lastId: number | null }>(sql, firstDay, lastDay);
  const [firstId, lastId] = [row?.firstId ?? 0, row?.lastId ?? -1];
  return { firstId, lastId: before === Infinity ? lastId : newestBefore(index, firstId, lastId, before) };
}

/** The days say it to the day: what is later on the last one is passed over here, and not candidate by candidate. */
function newestBefore(index: Database, firstId: number, lastId: number, before: number): number {
  const sql =
    'SELECT entry_id AS entryId FROM places WHERE entry_id BETWEEN ? AND ? AND at < ? ORDER BY entry_id DESC LIMIT 1';
  return index.get<{ entryId: number }>(sql, firstId, lastId, before)?.entryId ?? -1;
}

/** Beyond every day there is, where no time is given. */
const daysMax = 1e9;

function dayOf(time: number): number {
  return Math.max(-daysMax, Math.min(daysMax, Math.floor(time / dayMs)));
}

/** Hits not `seen` yet, until there are enough; they are seen from now on. */
function take(search: Search, conditions: readonly Condition[], manner: Manner, seen: Set<number>): SearchHit[] {
  const { limit, firstId, lastId, after, before } = search;
  const hits: SearchHit[] = [];
  let vain = 0;
  for (let section = sectionOf(lastId); section >= sectionOf(firstId); section--) {
    const expression = conditions.length === 0 ? null : expressionFor(section, conditions);
    let upTo = lastId;
    // Each page begins at the newest again, inside of SQLite: few and growing ones are cheaper than many.
    for (let pageSize = Math.max(pageMin, limit); ; pageSize *= pageGrowth) {
      const page = candidates(search, expression, upTo, pageSize);
      for (const { entryId, at } of page) {
        if (seen.size >= limit || vain >= vainMax) return hits;
        upTo = entryId - 1;
        if (seen.has(entryId) || at < after || at >= before) continue;
        const found = hitAt(search, manner, entryId);
        if (found === null) vain++;
        else {
          seen.add(entryId);
          hits.push(found);
        }
      }
      if (page.length < pageSize) break;
    }
    if (expression === null) return hits;
  }
  return hits;
}

/** Newest first; without an expression, all there are. */
function candidates(
  { index, firstId }: Search,
  expression: string | null,
  upTo: number,
  limit: number,
): readonly Candidate[] {
  if (expression === null) {
    const sql =
      'SELECT entry_id AS entryId, at FROM places WHERE entry_id BETWEEN ? AND ? ORDER BY entry_id DESC LIMIT ?';
    return index.all<Candidate>(sql, firstId, upTo, limit);
  }
  return index.all<Candidate>(
    `SELECT places.entry_id AS entryId, at FROM tokens CROSS JOIN places ON places.entry_id = tokens.rowid
     WHERE tokens MATCH ? AND tokens.rowid BETWEEN ? AND ? ORDER BY tokens.rowid DESC LIMIT ?`,
    expression,
    firstId,
    upTo,
    limit,
  );
}

/** Null if it is not one after all. */
function hitAt({ state, terms, owner }: Search, manner: Manner, entryId: number): SearchHit | null {
  const row = state.get<Omit<SearchHit, 'role' | 'snippet'> & { body: string; owner: string }>(
    `SELECT session_id AS sessionId, name AS sessionName, seq, at, body, owner
     FROM entries JOIN sessions ON sessions.id = session_id WHERE entries.id = ?`,
    entryId,
  );
  // Removed a moment ago. Whose it is, is for the database to say: the index is only a copy.
  if (row === undefined || (owner !== null && row.owner !== owner)) return null;
  const { body, owner: _owner, ...place } = row;
  const entry = JSON.parse(body) as EntryBody;
  const text = searchableText(entry);
  const match = text === null ? null : matchText(text, terms);
  if (match === null || entry.kind !== 'message' || (manner === 'whole' && !match.isWhole)) return null;
  return { ...place, role: entry.message.role, snippet: match.snippet };
}
