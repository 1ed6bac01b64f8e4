/** `talaria sessions search`: where words occur in all conversations, best hit first. */
import { printable } from '../tui/printable.ts';
import type { CommandInput } from './arguments.ts';
import { exitCodes, type CommandContext, type ExitCode } from './command.ts';
import { formatTime } from '../tui/format-time.ts';
import { withApi } from './open-connection.ts';
import { wholeNumber } from './whole-number.ts';

const hitsByDefault = 20;
const hitsMax = 100;

export async function sessionsSearchCommand(context: CommandContext, input: CommandInput): Promise<ExitCode> {
  const { streams } = context;
  const limit = wholeNumber(input, 'limit', { min: 1, max: hitsMax }) ?? hitsByDefault;
  const hits = await withApi(context, 'sessions search', (api) => api.search(input.operands.join(' '), limit));
  const style = streams.outStyle;
  for (const hit of hits) {
    if (input.has('json')) {
      await streams.write(`${JSON.stringify(hit)}\n`);
      continue;
    }
    const place = `${style.bold(hit.sessionName)} ${style.dim(`#${hit.seq} ${hit.role} ${formatTime(hit.at)}`)}`;
    const snippet = printable(hit.snippet).replace(/\s+/g, ' ').trim();
    const marked = style.colour ? snippet.replace(/‹([^›]*)›/g, (_all, words: string) => style.yellow(words)) : snippet;
    await streams.write(`${place}\n  ${marked}\n`);
  }
  if (hits.length === 0) streams.note('nothing found');
  return exitCodes.ok;
}
