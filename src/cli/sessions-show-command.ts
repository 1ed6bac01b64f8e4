/** `talaria sessions show`: one conversation as far as it is stored, for reading or as JSON lines of its entries. */
import type { TalariaApi } from '../protocol/api.ts';
import type { SessionId } from '../protocol/ids.ts';
import type { Entry } from '../protocol/messages.ts';
import type { CommandInput } from './arguments.ts';
import { exitCodes, type CommandContext, type ExitCode } from './command.ts';
import { findSession } from './find-session.ts';
import { withApi } from './open-connection.ts';
import { createTranscript } from './transcript.ts';

export async function sessionsShowCommand(context: CommandContext, input: CommandInput): Promise<ExitCode> {
  const { streams, interrupt } = context;
  const transcript = createTranscript(streams.outStyle);
  const isJson = input.has('json');
  const write = async (lines: readonly string[]) => {
    if (lines.length > 0) await streams.write(`${lines.join('\n')}\n`);
  };
  await withApi(context, 'sessions show', async (api) => {
    const session = await findSession(api, input.operands[0] ?? '');
    for await (const entry of storedEntries(api, session.id)) {
      interrupt.throwIfAborted();
      await write(isJson ? [JSON.stringify(entry)] : transcript.lines(entry));
    }
    if (isJson) return;
    await write(transcript.end());
    if (session.state === 'running') streams.note('a turn is open in this session');
  });
  return exitCodes.ok;
}

/** The log up to this moment: the first event that is not stored says that all stored ones have come. */
async function* storedEntries(api: TalariaApi, id: SessionId): AsyncGenerator<Entry> {
  const done = new AbortController();
  try {
    for await (const event of api.events(id, 0, done.signal)) {
      if (event.kind !== 'entry') return;
      yield event.entry;
    }
  } finally {
    done.abort();
  }
}
