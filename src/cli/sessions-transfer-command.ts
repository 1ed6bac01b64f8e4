/** `talaria sessions export`, `import` and `fork`: one conversation as JSON lines, out of a home and into one. */
import { createReadStream } from 'node:fs';
import { copyText } from '../protocol/copy-text.ts';
import { sessionNameProblem } from '../protocol/ids.ts';
import type { Entry } from '../protocol/messages.ts';
import { systemClock } from '../lib/clock.ts';
import type { CommandInput } from './arguments.ts';
import { CliError, exitCodes, type CommandContext, type ExitCode } from './command.ts';
import { findSession } from './find-session.ts';
import { toLines } from './lines.ts';
import { withApi } from './open-connection.ts';
import { writeNewFile } from './write-new-file.ts';

export async function sessionsExportCommand(context: CommandContext, input: CommandInput): Promise<ExitCode> {
  const { streams, interrupt } = context;
  const [ref = '', path = '-'] = input.operands;
  await withApi(context, 'sessions export', async (api) => {
    const session = await findSession(api, ref);
    const lines = withNewlines(api.export(session.id));
    if (path !== '-') {
      await writeNewFile({ path, force: input.has('force'), signal: interrupt }, lines);
      return;
    }
    for await (const line of lines) {
      interrupt.throwIfAborted();
      await streams.write(line);
    }
  });
  return exitCodes.ok;
}

async function* withNewlines(lines: AsyncIterable<string>): AsyncGenerator<string> {
  for await (const line of lines) yield line.endsWith('\n') ? line : `${line}\n`;
}

export async function sessionsImportCommand(context: CommandContext, input: CommandInput): Promise<ExitCode> {
  const { streams, interrupt } = context;
  const [path = ''] = input.operands;
  const name = input.value('name');
  const problem = name === null ? null : sessionNameProblem(name);
  if (problem !== null) throw new CliError('wrongUsage', `--name: ${problem}`);
  if (path === '-' && streams.stdinIsTty) {
    throw new CliError('wrongUsage', 'there is nothing on standard input; give a FILE or pipe an export into it');
  }
  const session = await withApi(context, 'sessions import', async (api) => {
    const source: AsyncIterable<Uint8Array> =
      path === '-' ? streams.stdin : createReadStream(path, { signal: interrupt });
    return api.import(toLines(source), name);
  });
  streams.note(`imported ${session.messages} messages as ${JSON.stringify(session.name)}`);
  return exitCodes.ok;
}

export async function sessionsForkCommand(context: CommandContext, input: CommandInput): Promise<ExitCode> {
  const { streams } = context;
  const [ref = '', wanted] = input.operands;
  const name = wanted ?? `fork-${crypto.randomUUID().slice(0, 8)}`;
  const problem = sessionNameProblem(name);
  if (problem !== null) throw new CliError('wrongUsage', `NEW: ${problem}`);
  const copy = await withApi(context, 'sessions fork', async (api) => {
    const session = await findSession(api, ref);
    return api.import(copied(api.export(session.id), session.name), name);
  });
  await streams.write(`${copy.name}\n`);
  return exitCodes.ok;
}

/** With a word at the end on what it is a copy of. */
async function* copied(lines: AsyncIterable<string>, name: string): AsyncGenerator<string> {
  let last: Partial<Pick<Entry, 'seq'>> = {};
  for await (const line of lines) {
    last = JSON.parse(line) as Partial<Entry>;
    yield line;
  }
  const origin: Entry = {
    kind: 'notice',
    text: copyText(name),
    seq: (last.seq ?? 0) + 1,
    at: systemClock.now(),
    turnId: null,
  };
  yield JSON.stringify(origin);
}
