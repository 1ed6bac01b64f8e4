/**
 * `talaria sessions show`: one conversation as far as it is stored, for reading or as JSON lines of its entries; with
 * `--cache` its model calls instead.
 */
import { questionsAfter, type OpenQuestions } from '../tui/open-questions.ts';
import { questionLines } from '../tui/question-lines.ts';
import { storedEntries } from '../tui/stored-entries.ts';
import type { SessionSummary, TalariaApi } from '../protocol/api.ts';
import { filesOf } from '../protocol/entry-files.ts';
import type { CommandInput } from './arguments.ts';
import { exitCodes, type CommandContext, type ExitCode } from './command.ts';
import { findSession } from './find-session.ts';
import { withApi } from './open-connection.ts';
import { createTranscript } from './transcript.ts';

export async function sessionsShowCommand(context: CommandContext, input: CommandInput): Promise<ExitCode> {
  await withApi(context, 'sessions show', async (api) => {
    const session = await findSession(api, input.operands[0] ?? '');
    if (input.has('cache')) await showCache(context, api, session, input.has('json'));
    else if (input.has('json')) await showEntries(context, api, session);
    else await showTranscript(context, api, session, input.has('all'));
  });
  return exitCodes.ok;
}

async function showEntries({ streams, interrupt }: CommandContext, api: TalariaApi, { id }: SessionSummary) {
  for await (const entry of storedEntries(api, id, 0)) {
    interrupt.throwIfAborted();
    await streams.write(`${JSON.stringify(entry)}\n`);
  }
}

async function showTranscript(
  { streams, interrupt }: CommandContext,
  api: TalariaApi,
  session: SessionSummary,
  isWhole: boolean,
) {
  const transcript = createTranscript(streams.outStyle, isWhole);
  const write = async (lines: readonly string[]) => {
    if (lines.length > 0) await streams.write(`${lines.join('\n')}\n`);
  };
  let open: OpenQuestions = [];
  let files = 0;
  for await (const entry of storedEntries(api, session.id, 0)) {
    interrupt.throwIfAborted();
    open = questionsAfter(open, entry);
    files += filesOf(entry).length;
    await write(transcript.lines(entry));
  }
  await write(transcript.end());
  for (const question of open) await write(questionLines(question, streams.outStyle));
  const name = JSON.stringify(session.name);
  if (open.length > 0) streams.note(`answer with: talaria sessions answer ${name} TEXT`);
  if (files > 0) streams.note(`save a file with: talaria sessions file ${name} FILE`);
  if (session.state === 'running') streams.note('a turn is open in this session');
}

async function showCache({ streams }: CommandContext, api: TalariaApi, { id }: SessionSummary, isJson: boolean) {
  const calls = await api.modelCalls(id);
  if (isJson) {
    for (const call of calls) await streams.write(`${JSON.stringify(call)}\n`);
    return;
  }
  if (calls.length === 0) return streams.note('no model was called in this session yet');
  const { cacheLines } = await import('./cache-table.ts');
  await streams.write(`${cacheLines(calls, streams.outStyle).join('\n')}\n`);
}
