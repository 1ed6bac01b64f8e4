/**
 * `talaria prompt`: what every prompt begins with, section by section with its size; with `--session` what that one was
 * frozen with, and where a new one would differ.
 */
import type { PromptReport, PromptView } from '../protocol/api.ts';
import { printable } from '../tui/printable.ts';
import type { CommandInput } from './arguments.ts';
import { CliError, exitCodes, type CommandContext, type ExitCode } from './command.ts';
import { findSession } from './find-session.ts';
import { withApi } from './open-connection.ts';
import { writeTable } from './table.ts';

export async function promptCommand(context: CommandContext, input: CommandInput): Promise<ExitCode> {
  const name = input.value('session');
  return withApi(context, 'prompt', async (api) => {
    const session = name === null ? null : await findSession(api, name);
    const report = await api.prompt(session === null ? null : session.id);
    if (input.has('json')) await context.streams.write(`${JSON.stringify(report, null, 2)}\n`);
    else if (session !== null && report.frozen === null)
      throw new CliError('failed', `${JSON.stringify(session.name)} has no prompt yet: nothing was said in it`);
    else if (input.has('text')) await showText(context, report.frozen ?? report.fresh);
    else await showSizes(context, report);
    return exitCodes.ok;
  });
}

async function showText({ streams }: CommandContext, { sections }: PromptView): Promise<void> {
  const texts = sections.map(({ text }) => text).filter((text) => text !== '');
  await streams.write(`${printable(texts.join('\n\n'))}\n`);
}

async function showSizes(context: CommandContext, { frozen, fresh }: PromptReport): Promise<void> {
  const shown = frozen ?? fresh;
  const rows = shown.sections.map(({ name, text }) => [name, String(Buffer.byteLength(text)), firstWords(text)]);
  const bytes = shown.tools.reduce((sum, tool) => sum + tool.bytes, 0);
  const whole = Buffer.byteLength(shown.sections.flatMap(({ text }) => (text === '' ? [] : [text])).join('\n\n'));
  rows.push(['tools', String(bytes), `${shown.tools.length} of them; see talaria tools list`]);
  rows.push(['in all', String(whole + bytes), '']);
  await writeTable(context, ['SECTION', 'BYTES', 'BEGINS WITH'], rows);
  if (frozen === null) return;
  const differences = promptDifferences(frozen, fresh);
  for (const line of differences) context.streams.note(line);
  if (differences.length === 0) context.streams.note('a new session would begin with the same');
}

function firstWords(text: string): string {
  return text === '' ? '(nothing)' : printable(text.split('\n', 1)[0] ?? '');
}

/** Where a new session would begin otherwise, a sentence each. */
export function promptDifferences(frozen: PromptView, fresh: PromptView): readonly string[] {
  const before = new Map(frozen.sections.map(({ name, text }) => [name, text]));
  const now = new Map(fresh.sections.map(({ name, text }) => [name, text]));
  const lines: string[] = [];
  for (const name of new Set([...before.keys(), ...now.keys()])) {
    const [one, other] = [before.get(name) ?? '', now.get(name) ?? ''];
    if (one === other) continue;
    const sizes = `${Buffer.byteLength(one)} bytes here, ${Buffer.byteLength(other)} there`;
    lines.push(`a new session would have another section "${name}" (${sizes})`);
  }
  const [had, has] = [frozen.tools, fresh.tools].map((tools) => new Map(tools.map((tool) => [tool.name, tool.bytes])));
  const names = [...new Set([...(had?.keys() ?? []), ...(has?.keys() ?? [])])];
  const others = names.filter((name) => had?.get(name) !== has?.get(name));
  if (others.length > 0)
    lines.push(`a new session would have other tools: ${others.map((tool) => printable(tool)).join(', ')}`);
  return lines;
}
