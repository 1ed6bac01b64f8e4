/** Messages of a log as a model reads them in a result: who, when, which number, and what. Pure. */
import type { SearchHit } from '../../protocol/api.ts';
import { textOf, type Entry, type UntrustedSource } from '../../protocol/messages.ts';

/** Of a message that stands beside a hit. */
const besideCharsMax = 200;
/** Of a message that is read. */
const messageCharsMax = 2_000;

export type MessageEntry = Entry & { readonly kind: 'message' };

/** The message with this number and so many before and after it. */
export function around(entries: readonly Entry[], seq: number, count: number): readonly MessageEntry[] {
  const messages = entries.filter((entry) => entry.kind === 'message' && textIn(entry) !== '') as MessageEntry[];
  const at = messages.findLastIndex((entry) => entry.seq <= seq);
  if (at < 0) return [];
  return messages.slice(Math.max(0, at - count), at + count + 1);
}

export function hitText(hit: SearchHit, neighbours: readonly MessageEntry[], isThisSession: boolean): string {
  const place = `${hit.sessionName} #${hit.seq}, ${hit.role}, ${timeText(hit.at)}`;
  const beside = (entry: MessageEntry) => `  ${entry.message.role}: ${oneLine(textIn(entry), besideCharsMax)}`;
  return [
    isThisSession ? `${place} (this conversation)` : place,
    ...neighbours.filter((entry) => entry.seq < hit.seq).map(beside),
    `  > ${oneLine(hit.snippet, Infinity)}`,
    ...neighbours.filter((entry) => entry.seq > hit.seq).map(beside),
  ].join('\n');
}

export function sayableEntries(entries: readonly MessageEntry[], seq: number): readonly string[] {
  return entries.map((entry) => {
    const mark = entry.seq === seq ? ' ←' : '';
    return `#${entry.seq} ${entry.message.role}, ${timeText(entry.at)}${mark}\n${cut(textIn(entry), messageCharsMax)}`;
  });
}

/** Whose words are among these; a turn that has read a stranger's may repeat them. */
export function untrustedAmong(all: readonly Entry[], shown: readonly Entry[]): UntrustedSource | null {
  for (const entry of shown) {
    const earlier = all.filter(({ seq, turnId }) => seq <= entry.seq && (seq === entry.seq || turnId === entry.turnId));
    const source = earlier.map(untrustedOf).find((found) => found !== null) ?? null;
    if (source !== null) return source;
  }
  return null;
}

function untrustedOf(entry: Entry): UntrustedSource | null {
  if (entry.kind !== 'message' || entry.message.role === 'assistant') return null;
  const { message } = entry;
  return (message.role === 'tool' ? message.parts[0].untrusted : message.untrusted) ?? null;
}

function textIn({ message }: MessageEntry): string {
  return (message.role === 'tool' ? message.parts[0].text : textOf(message)).trim();
}

/** To the minute, where Talaria runs. */
function timeText(at: number): string {
  const date = new Date(at);
  const two = (number: number) => String(number).padStart(2, '0');
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}`;
}

function oneLine(text: string, charsMax: number): string {
  return cut(text.replaceAll(/\s+/gu, ' ').trim(), charsMax);
}

function cut(text: string, charsMax: number): string {
  return text.length <= charsMax ? text : `${text.slice(0, charsMax).toWellFormed()}…`;
}
