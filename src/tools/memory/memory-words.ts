/** What a change of the memory is in words: before it is made, for whoever has to approve it, and afterwards, for the model. */
import type { ToolOutcome } from '../tool.ts';
import type { ChangeOutcome, MemoryChange, MemoryUse } from './memory-files.ts';
import { archiveFileName } from './memory-places.ts';

/** Of entries that are named in a result. */
const entriesMax = 40;

export function plannedText(change: MemoryChange, file: string): string {
  switch (change.action) {
    case 'add':
      return `add to ${file}:\n- ${change.entry}`;
    case 'replace':
      return `replace in ${file}:\n- ${change.old}\nby:\n- ${change.entry}`;
    case 'remove':
      return `remove from ${file}:\n- ${change.old}`;
  }
}

export function changeText(
  outcome: ChangeOutcome,
  change: MemoryChange,
  { file, hadUnseen }: { readonly file: string; readonly hadUnseen: boolean },
): ToolOutcome {
  const entry = change.action === 'remove' ? '' : change.entry;
  const cleaned = hadUnseen ? ['Characters that can not be seen were left out.'] : [];
  switch (outcome.kind) {
    case 'added':
      return said([`Stored in ${file}: - ${entry}`, ...cleaned, ...archivedLines(outcome.archived)], outcome.use);
    case 'there-already':
      return said([`Already in ${file}: - ${entry}`], outcome.use);
    case 'replaced':
      return said(
        [
          `Replaced in ${file}: - ${outcome.was}`,
          `It says now: - ${entry}`,
          ...cleaned,
          ...archivedLines(outcome.archived),
        ],
        outcome.use,
      );
    case 'removed':
      return said([`Removed from ${file}: - ${outcome.was}`], outcome.use);
    case 'not-found':
      return failed([`Nothing was changed: no entry of ${file} has these words.`, ...listed(outcome.entries)]);
    case 'several':
      return failed([
        `Nothing was changed: several entries have these words; say more of one.`,
        ...listed(outcome.entries),
      ]);
    case 'no-room':
      return failed([
        `Nothing was stored: ${file} is full (${useText(outcome.use)}) with text that is no list of entries. ` +
          `The person can shorten it by hand: talaria memory edit`,
      ]);
  }
}

export function useText({ chars, charsMax }: MemoryUse): string {
  return `${chars} of ${charsMax} characters`;
}

function archivedLines(entries: readonly string[]): readonly string[] {
  if (entries.length === 0) return [];
  return [`To make room, the oldest went to ${archiveFileName}, where search finds them:`, ...entries.map(line)];
}

function listed(entries: readonly string[]): readonly string[] {
  const more = entries.length > entriesMax ? [`… and ${entries.length - entriesMax} more`] : [];
  return [...entries.slice(0, entriesMax).map(line), ...more];
}

function line(entry: string): string {
  return `- ${entry}`;
}

function said(lines: readonly string[], use: MemoryUse): ToolOutcome {
  return { kind: 'finished', text: [...lines, `(${useText(use)} used)`].join('\n') };
}

function failed(lines: readonly string[]): ToolOutcome {
  return { kind: 'failed', text: lines.join('\n') };
}
