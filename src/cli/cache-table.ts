/** A session's model calls as a table: what each read, how much of it came from the provider's cache, and why not more. */
import type { ModelCallRecord, PrefixReason } from '../protocol/usage.ts';
import { formatTime } from '../tui/format-time.ts';
import { printableLine } from '../tui/printable.ts';
import type { Style } from '../tui/style.ts';
import { costText, countText, knownUsdText, shareText, tokensText, totalOfCalls } from '../protocol/usage-text.ts';
import { formatTable } from './table.ts';

const modelCharsMax = 60;
const errorCharsMax = 200;

export const reasonWords: Readonly<Record<PrefixReason, string>> = {
  'first-call': 'first call',
  'other-model': 'another model was asked before',
  'model-changed': 'the model was changed',
  'toolset-changed': 'the tools were changed',
  'system-prompt-changed': 'the system prompt was changed',
  'registry-changed': 'tools came or went',
  'effort-changed': 'the reasoning effort was changed',
  'thought-missing': 'the model left out a thought, so it could not think on',
  compressed: 'the conversation was shortened',
  rewound: 'a part of the conversation was taken back',
  unexplained: 'NO REASON ON RECORD: a bug in Talaria',
};

const head = ['WHEN', 'PURPOSE', 'MODEL', 'INPUT', 'CACHED', 'SHARE', 'OUTPUT', 'COST', 'PREFIX', 'NOTE'];

export function cacheLines(calls: readonly ModelCallRecord[], style: Style): string[] {
  const [first = '', ...rows] = formatTable([head, ...calls.map(cells)], Infinity);
  return [style.dim(first), ...rows, '', ...sums(calls)];
}

function cells(call: ModelCallRecord): string[] {
  const { usage } = call;
  return [
    formatTime(call.startedAt),
    call.purpose,
    printableLine(`${call.provider}/${call.model}`, modelCharsMax),
    usage === null ? '-' : countText(usage.inputTokens),
    usage === null ? '-' : countText(usage.cachedTokens),
    usage === null ? '-' : shareText(usage.cachedTokens, usage.inputTokens),
    usage === null ? '-' : countText(usage.outputTokens),
    usage === null ? '-' : knownUsdText(usage.usd),
    `${call.promptUnitsKept}/${call.promptUnits}`,
    noteOf(call),
  ];
}

function noteOf({ prefixBreak, state, error, usage }: ModelCallRecord): string {
  const notes = [
    prefixBreak === null ? '' : reasonWords[prefixBreak],
    state === 'completed' ? '' : stateWords[state],
    state === 'lost' && usage !== null ? 'its usage is an estimate' : '',
    error === null ? '' : printableLine(error, errorCharsMax),
  ];
  return notes.filter((note) => note !== '').join('; ');
}

const stateWords: Readonly<Record<Exclude<ModelCallRecord['state'], 'completed'>, string>> = {
  started: 'under way',
  failed: 'failed',
  cancelled: 'cancelled',
  lost: 'the program died in it',
};

function sums(calls: readonly ModelCallRecord[]): string[] {
  const total = totalOfCalls(calls);
  const breaks = calls.filter(({ prefixBreak }) => prefixBreak !== null && prefixBreak !== 'first-call').length;
  const unexplained = calls.filter(({ prefixBreak }) => prefixBreak === 'unexplained').length;
  const broken = `${breaks} broken ${breaks === 1 ? 'prefix' : 'prefixes'}`;
  return [
    `${total.calls} ${total.calls === 1 ? 'call' : 'calls'}, ${tokensText(total)}, ${costText(total)}`,
    `${broken}, ${unexplained} without a reason`,
  ];
}
