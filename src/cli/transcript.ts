/** A stored conversation as a person reads it: who said what, which tools were called, what they gave. */
import { filesOf, fileSize } from '../protocol/entry-files.ts';
import type { CallId } from '../protocol/ids.ts';
import {
  textOf,
  toolCallsOf,
  type AssistantMessage,
  type CompressionStep,
  type Entry,
  type ToolMessage,
} from '../protocol/messages.ts';
import { callSummary, outcomeWords } from '../tui/call-line.ts';
import { printable, printableLine } from '../tui/printable.ts';
import type { Style } from '../tui/style.ts';
import { formatTime } from '../tui/format-time.ts';
import { reasonWords } from './cache-table.ts';

const callCharsMax = 100;
const fileNameCharsMax = 100;
/** More of a tool's result than this is counted instead of shown. */
const resultLinesMax = 12;

export interface Transcript {
  /** The lines of the next entry; none for what only the machine needs. */
  lines(entry: Entry): string[];
  /** What there is to say about calls that have no result yet. */
  end(): string[];
}

/** `isWhole`: results to their last line, and what only the machine needs. */
export function createTranscript(style: Style, isWhole = false): Transcript {
  const unsettled = new Map<CallId, string>();
  const spoken = (message: AssistantMessage): string[] => {
    for (const call of toolCallsOf(message)) {
      unsettled.set(call.callId, callSummary(call.name, call.arguments, callCharsMax));
    }
    const text = printable(textOf(message)).trimEnd();
    return text === '' ? [] : [text, ''];
  };
  const settled = ({ parts: [result] }: ToolMessage): string[] => {
    const call = unsettled.get(result.callId) ?? 'a call';
    unsettled.delete(result.callId);
    return [
      style.dim(`▸ ${call} … ${outcomeWords[result.outcome]}`),
      ...resultLines(result.text, style, isWhole ? Infinity : resultLinesMax),
      '',
    ];
  };
  const spokenLines = (entry: Entry): string[] => {
    switch (entry.kind) {
      case 'message':
        if (entry.message.role === 'tool') return settled(entry.message);
        if (entry.message.role === 'assistant') {
          const lines = spoken(entry.message);
          return lines.length === 0 ? [] : [headline('talaria', entry, style), ...lines];
        }
        return asked(entry, printable(textOf(entry.message)).trimEnd(), style);
      case 'notice':
        return [style.yellow(`${entry.question === undefined ? '!' : '?'} ${printable(entry.text)}`), ''];
      case 'turn-closed':
        return entry.outcome === 'answered' ? [] : [style.yellow(`! this turn ended: ${entry.outcome}`), ''];
      case 'rewound':
        return [style.yellow('! what came before this was taken back'), ''];
      case 'compression':
      case 'head':
      case 'turn-opened':
      case 'titled':
        return isWhole ? [...machineLines(entry).map((line) => style.dim(line)), ''] : [];
    }
  };
  return {
    lines(entry) {
      const [lines, files] = [spokenLines(entry), fileLines(entry, style)];
      return files.length === 0 ? lines : [...(lines.at(-1) === '' ? lines.slice(0, -1) : lines), ...files, ''];
    },
    end: () => [...unsettled.values()].map((call) => style.dim(`▸ ${call} … not finished yet`)),
  };
}

function fileLines(entry: Entry, style: Style): string[] {
  return filesOf(entry).map(({ name, content, way }) => {
    const what = way === 'seen' ? 'picture' : `file ${way}`;
    return style.dim(`[${what}: ${printableLine(name, fileNameCharsMax)}, ${fileSize(content.bytes)}]`);
  });
}

/** What nobody wrote is a small line of its own, not something that the user said. */
function asked(entry: Entry, text: string, style: Style): string[] {
  if ('inboxId' in entry && entry.inboxId === null) return [style.dim(`(told the model: ${text})`), ''];
  return [headline('you', entry, style), text, ''];
}

function headline(who: string, entry: Entry, style: Style): string {
  return `${style.bold(who)} ${style.dim(formatTime(entry.at))}`;
}

/** What the model is told besides what was said, and why. */
function machineLines(entry: Extract<Entry, { kind: 'compression' | 'head' | 'turn-opened' | 'titled' }>): string[] {
  const time = formatTime(entry.at);
  switch (entry.kind) {
    case 'head': {
      const { systemPrompt, tools } = entry.head;
      const why = entry.reason === 'session-started' ? '' : ` anew: ${reasonWords[entry.reason]}`;
      return [`· ${time} the prompt begins${why}, with ${tools.length} tools and ${systemPrompt.length} characters`];
    }
    case 'turn-opened':
      return [`· ${time} turn ${entry.turnId ?? ''}`];
    case 'titled':
      return [`· ${time} called "${printable(entry.title)}", by ${titledBy[entry.by]}`];
    case 'compression':
      return compressionLines(entry.step, time);
  }
}

const titledBy = { words: 'its first words', model: 'a model', person: 'a person' } as const;

function compressionLines(step: CompressionStep, time: string): string[] {
  switch (step.kind) {
    case 'asked':
      return [`· ${time} to be shortened, by ${step.why === 'person' ? 'a person' : 'the provider'}`];
    case 'begun':
      return [`· ${time} a model is asked for a summary`];
    case 'declined':
      return [`· ${time} not shortened: about ${step.tokens} tokens stay`];
    case 'done': {
      const { tokensBefore, tokensAfter, toSeq, summary, digests } = step;
      const told = summary === '' ? [] : [`  up to entry ${toSeq} the model is told:`, ...indented(summary)];
      const results = digests.flatMap(({ text }) => indented(text));
      const more = results.length === 0 ? [] : ['  and these results in one line each:', ...results];
      return [`· ${time} shortened: about ${tokensBefore} tokens became ${tokensAfter}`, ...told, ...more];
    }
  }
}

function indented(text: string): string[] {
  return printable(text)
    .split('\n')
    .map((line) => `    ${line}`);
}

function resultLines(text: string, style: Style, linesMax: number): string[] {
  const lines = printable(text).trimEnd().split('\n');
  const shown = lines.slice(0, linesMax).map((line) => style.dim(`  ${line}`));
  const hidden = lines.length - shown.length;
  return hidden === 0 ? shown : [...shown, style.dim(`  … ${hidden} more lines; --all shows them`)];
}
