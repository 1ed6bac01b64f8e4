/** `talaria sessions file`: saves a file that was sent or received in a conversation. */
import { filesOf, fileSize, type EntryFile } from '../protocol/entry-files.ts';
import { storedEntries } from '../tui/stored-entries.ts';
import { printableLine } from '../tui/printable.ts';
import type { CommandInput } from './arguments.ts';
import { CliError, exitCodes, type CommandContext, type ExitCode } from './command.ts';
import { findSession } from './find-session.ts';
import { withApi } from './open-connection.ts';
import { writeNewFile } from './write-new-file.ts';

const namesShownMax = 20;
const nameCharsMax = 100;

export async function sessionsFileCommand(context: CommandContext, input: CommandInput): Promise<ExitCode> {
  const { streams, interrupt } = context;
  const [ref = '', name = ''] = input.operands;
  await withApi(context, 'sessions file', async (api) => {
    const session = await findSession(api, ref);
    const files: EntryFile[] = [];
    for await (const entry of storedEntries(api, session.id, 0)) {
      interrupt.throwIfAborted();
      files.push(...filesOf(entry));
    }
    const file = files.findLast((one) => one.name === name);
    if (file === undefined) throw new CliError('failed', notThere(name, files));
    const bytes = await api.content(file.content.sha256);
    if (bytes === null) throw new CliError('failed', 'its bytes are not here: the conversation came without them');
    const path = input.value('output') ?? plainName(name);
    if (path === '-') return streams.write(bytes);
    await writeNewFile({ path, force: input.has('force'), signal: interrupt }, only(bytes));
    streams.note(`saved ${path} (${fileSize(bytes.byteLength)})`);
  });
  return exitCodes.ok;
}

async function* only(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

/** Into the current folder, whatever the name says. */
function plainName(name: string): string {
  const last =
    name
      .replaceAll(/\p{Cc}/gu, '_')
      .split(/[/\\]/)
      .at(-1) ?? '';
  return last === '' || last === '.' || last === '..' ? 'file' : last;
}

function notThere(name: string, files: readonly EntryFile[]): string {
  const names = [...new Set(files.map((file) => printableLine(file.name, nameCharsMax)))];
  if (names.length === 0) return 'there are no files in this conversation';
  const shown = names.slice(-namesShownMax).join(', ');
  return `there is no file named ${printableLine(name, nameCharsMax)} in it; there are: ${shown}`;
}
