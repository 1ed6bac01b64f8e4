/** Search over the in-memory entries, by the same rules as the real index: all words, quoted ones together. */
import type { SearchHit } from '../../src/protocol/api.ts';
import { textOf, type Message } from '../../src/protocol/messages.ts';
import { isSaid } from './memory-commit.ts';
import type { MemoryData } from './memory-data.ts';

interface Word {
  readonly folded: string;
  readonly start: number;
  readonly end: number;
}

export function searchData(data: MemoryData, query: string, limit: number, owner?: string): SearchHit[] {
  const phrases = [...query.slice(0, 1_000).matchAll(/"([^"]*)"?|([^\s"]+)/gu)]
    .map((term) => wordsOf((term[1] ?? term[2] ?? '').replaceAll('\0', ' ')).map((word) => word.folded))
    .filter((phrase) => phrase.length > 0);
  if (phrases.length === 0) return [];
  const hits: SearchHit[] = [];
  for (const { record, entries } of data.sessions.values()) {
    if (owner !== undefined && record.owner !== owner) continue;
    for (const entry of entries) {
      if (entry.kind !== 'message' || (entry.message.role === 'user' && !isSaid(entry))) continue;
      const snippet = snippetOf(searchableText(entry.message), phrases);
      if (snippet === null) continue;
      const { seq, at } = entry;
      hits.push({ sessionId: record.id, sessionName: record.name, seq, at, role: entry.message.role, snippet });
    }
  }
  return hits.slice(0, limit);
}

function searchableText(message: Message): string {
  return message.role === 'tool' ? message.parts[0].text : textOf(message);
}

function wordsOf(text: string): Word[] {
  return [...text.matchAll(/[\p{L}\p{N}\p{M}]+/gu)].map((match) => ({
    folded: match[0].normalize('NFD').replaceAll(/\p{M}/gu, '').toLowerCase(),
    start: match.index,
    end: match.index + match[0].length,
  }));
}

/** Null if not every phrase occurs. */
function snippetOf(text: string, phrases: readonly (readonly string[])[]): string | null {
  const words = wordsOf(text);
  const spans: [number, number][] = [];
  for (const phrase of phrases) {
    const starts = words.flatMap((_, at) => (phrase.every((word, n) => words[at + n]?.folded === word) ? [at] : []));
    if (starts.length === 0) return null;
    for (const at of starts) spans.push([words[at]?.start ?? 0, words[at + phrase.length - 1]?.end ?? 0]);
  }
  let marked = '';
  let done = 0;
  for (const [start, end] of spans.sort((a, b) => a[0] - b[0])) {
    if (start < done) continue;
    marked += `${text.slice(done, start)}‹${text.slice(start, end)}›`;
    done = end;
  }
  return marked + text.slice(done);
}
