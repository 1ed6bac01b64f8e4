/** `talaria sessions search`: where words occur in all conversations, what was said at a time, and reading on around a hit. */
import { momentOf } from '../lib/moment.ts';
import { formatTime } from '../tui/format-time.ts';
import { printable } from '../tui/printable.ts';
import { storedEntries } from '../tui/stored-entries.ts';
import type { CommandInput } from './arguments.ts';
import { CliError, exitCodes, type CommandContext, type ExitCode } from './command.ts';
import { findSession } from './find-session.ts';
import { withApi } from './open-connection.ts';
import { createTranscript } from './transcript.ts';
import { wholeNumber } from './whole-number.ts';

const hitsByDefault = 20;
const hitsMax = 100;
/** How many entries are printed before and after the one that was asked for. */
const entriesAround = 12;

export async function sessionsSearchCommand(context: CommandContext, input: CommandInput): Promise<ExitCode> {
  const { streams } = context;
  if (input.has('rebuild')) {
    await withApi(context, 'sessions search', (api) => api.rebuildSearch());
    streams.note('the index was built anew');
    if (input.operands.length === 0 && !input.has('after') && !input.has('before')) return exitCodes.ok;
  }
  if (input.has('around') || input.has('session')) return printAround(context, input);
  const limit = wholeNumber(input, 'limit', { min: 1, max: hitsMax }) ?? hitsByDefault;
  const span = { ...time(input, 'after'), ...time(input, 'before') };
  const query = input.operands.join(' ');
  if (query.trim() === '' && Object.keys(span).length === 0) {
    throw new CliError('wrongUsage', 'say what to look for: WORDS, or --after and --before');
  }
  const hits = await withApi(context, 'sessions search', (api) => api.search(query, limit, span));
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

async function printAround(context: CommandContext, input: CommandInput): Promise<ExitCode> {
  const { streams } = context;
  const seq = wholeNumber(input, 'around', { min: 1, max: Number.MAX_SAFE_INTEGER });
  const name = input.value('session');
  if (seq === null || name === null) throw new CliError('wrongUsage', '--session NAME and --around NUMBER go together');
  await withApi(context, 'sessions search', async (api) => {
    const { id } = await findSession(api, name);
    const transcript = createTranscript(streams.outStyle);
    let printed = 0;
    for await (const entry of storedEntries(api, id, Math.max(0, seq - entriesAround - 1))) {
      if (entry.seq > seq + entriesAround) break;
      if (input.has('json')) {
        await streams.write(`${JSON.stringify(entry)}\n`);
        continue;
      }
      const lines = transcript.lines(entry);
      if (entry.seq === seq && lines.length > 0) lines[0] = streams.outStyle.bold(`#${seq} ${lines[0] ?? ''}`);
      if (lines.length > 0) await streams.write(`${lines.join('\n')}\n`);
      printed++;
    }
    if (printed === 0 && !input.has('json')) streams.note('nothing there');
  });
  return exitCodes.ok;
}

function time(input: CommandInput, option: 'after' | 'before'): { after?: number; before?: number } {
  const given = input.value(option);
  const moment = momentOf(given ?? undefined);
  if (moment === null) {
    throw new CliError('wrongUsage', `--${option} needs a day or a time like 2026-03-01 or 2026-03-01T09:30`);
  }
  return moment === undefined ? {} : { [option]: moment };
}
