/** `talaria sessions list`: conversations, newest first, as a table or as JSON lines. */
import type { SessionSummary } from '../protocol/api.ts';
import { printableLine } from '../tui/printable.ts';
import type { CommandInput } from './arguments.ts';
import { exitCodes, type CommandContext, type ExitCode } from './command.ts';
import { allSessions } from './find-session.ts';
import { formatTime } from '../tui/format-time.ts';
import { withApi } from './open-connection.ts';
import { formatTable } from './table.ts';
import { wholeNumber } from './whole-number.ts';

/** Rows are lined up with each other in blocks of this size, so that a long list begins to show at once. */
const blockRows = 200;
const titleCharsMax = 60;

export async function sessionsListCommand(context: CommandContext, input: CommandInput): Promise<ExitCode> {
  const { streams, interrupt } = context;
  const limit = wholeNumber(input, 'limit', { min: 1, max: 1_000_000_000 }) ?? Infinity;
  const count = await withApi(context, 'sessions list', async (api) => {
    let count = 0;
    let block: SessionSummary[] = [];
    const flush = async () => {
      const isFirst = count === block.length;
      await streams.write(input.has('json') ? jsonLines(block) : tableText(context, block, isFirst));
      block = [];
    };
    for await (const session of allSessions(api)) {
      interrupt.throwIfAborted();
      block.push(session);
      count++;
      if (block.length >= blockRows) await flush();
      if (count >= limit) break;
    }
    if (block.length > 0) await flush();
    return count;
  });
  if (count === 0) streams.note('no sessions yet; start one with: talaria -p "hello"');
  return exitCodes.ok;
}

function jsonLines(sessions: readonly SessionSummary[]): string {
  return sessions.map((session) => `${JSON.stringify(session)}\n`).join('');
}

function tableText({ streams }: CommandContext, sessions: readonly SessionSummary[], withHead: boolean): string {
  const rows = sessions.map((session) => [
    session.name,
    session.state,
    String(session.messages),
    formatTime(session.updatedAt),
    printableLine(session.title, titleCharsMax),
  ]);
  const columns = streams.stdoutIsTty ? streams.columns : Infinity;
  const [head = '', ...lines] = formatTable([['NAME', 'STATE', 'MESSAGES', 'UPDATED', 'TITLE'], ...rows], columns);
  return `${[...(withHead ? [streams.outStyle.dim(head)] : []), ...lines].join('\n')}\n`;
}
