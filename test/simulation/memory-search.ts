/** Search over the in-memory entries, by the same rules as the real index, and by looking at every one of them. */
import type { SearchHit } from '../../src/protocol/api.ts';
import { textOf, type Message } from '../../src/protocol/messages.ts';
import { matchText, searchTerms } from '../../src/lib/search-terms.ts';
import type { SearchScope } from '../../src/store/store.ts';
import { isSaid } from './memory-commit.ts';
import type { MemoryData } from './memory-data.ts';

export function searchData(data: MemoryData, query: string, limit: number, scope: SearchScope = {}): SearchHit[] {
  const terms = searchTerms(query);
  const { owner, after, before } = scope;
  const hasTime = after !== undefined || before !== undefined;
  if (terms.length === 0 && (!hasTime || query.trim() !== '')) return [];
  const hits: { isWhole: boolean; hit: SearchHit }[] = [];
  for (const { record, entries } of data.sessions.values()) {
    if (owner !== undefined && record.owner !== owner) continue;
    for (const entry of entries) {
      if (entry.kind !== 'message' || (entry.message.role === 'user' && !isSaid(entry))) continue;
      const { seq, at } = entry;
      if (at < (after ?? -Infinity) || at >= (before ?? Infinity)) continue;
      const text = searchableText(entry.message);
      const match = text === '' ? null : matchText(text, terms);
      if (match === null) continue;
      const { isWhole, snippet } = match;
      const hit = { sessionId: record.id, sessionName: record.name, seq, at, role: entry.message.role, snippet };
      hits.push({ isWhole, hit });
    }
  }
  return hits
    .sort((one, other) => Number(other.isWhole) - Number(one.isWhole) || other.hit.at - one.hit.at)
    .map(({ hit }) => hit)
    .slice(0, limit);
}

function searchableText(message: Message): string {
  return message.role === 'tool' ? message.parts[0].text : textOf(message);
}
