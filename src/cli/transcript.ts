/** A stored conversation as a person reads it: who said what, which tools were called, what they gave. */
import { filesOf, fileSize } from '../protocol/entry-files.ts';
import type { CallId } from '../protocol/ids.ts';
import { textOf, toolCallsOf, type AssistantMessage, type Entry, type ToolMessage } from '../protocol/messages.ts';
import { callSummary, outcomeWords } from '../tui/call-line.ts';
import { printable, printableLine } from '../tui/printable.ts';
import type { Style } from '../tui/style.ts';
import { formatTime } from '../tui/format-time.ts';

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

export function createTranscript(style: Style): Transcript {
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
    return [style.dim(`▸ ${call} … ${outcomeWords[result.outcome]}`), ...resultLines(result.text, style), ''];
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
        return [];
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

function resultLines(text: string, style: Style): string[] {
  const lines = printable(text).trimEnd().split('\n');
  const shown = lines.slice(0, resultLinesMax).map((line) => style.dim(`  ${line}`));
  const hidden = lines.length - shown.length;
  return hidden === 0 ? shown : [...shown, style.dim(`  … ${hidden} more lines; --json has all of them`)];
}
