/** `talaria model list` and `talaria model providers`: what there is to choose from. */
import type { ProviderDescription } from '../app/model-choice.ts';
import { printable } from '../tui/printable.ts';
import type { CommandInput } from './arguments.ts';
import { CliError, exitCodes, type CommandContext, type ExitCode } from './command.ts';
import { openModels } from './open-models.ts';
import { readChoice } from './read-choice.ts';
import { formatTable } from './table.ts';

export async function modelListCommand(context: CommandContext, input: CommandInput): Promise<ExitCode> {
  const { streams, interrupt } = context;
  const [typed] = input.operands;
  const choice = typed === undefined ? null : await readChoice(typed);
  if (choice !== null && choice.name !== null) {
    throw new CliError(
      'wrongUsage',
      `talaria model list takes a provider, as in: talaria model list ${choice.provider}`,
    );
  }
  const { admin } = await openModels(context);
  const model = admin.choose(choice);
  if (model.description.base_url === '' && model.description.problem !== null) {
    throw new CliError('failed', model.description.problem);
  }
  const names = await model.names(interrupt);
  const text = input.has('json') ? JSON.stringify(names, null, 2) : names.map(printable).join('\n');
  if (text !== '') await streams.write(`${text}\n`);
  if (names.length === 0) streams.note('talaria: it offers no models');
  return exitCodes.ok;
}

export async function modelProvidersCommand(context: CommandContext, input: CommandInput): Promise<ExitCode> {
  const { streams } = context;
  const { environment } = await openModels(context);
  const { describeProviders } = await import('../app/model-choice.ts');
  const providers = describeProviders(environment);
  if (input.has('json')) {
    await streams.write(`${JSON.stringify(providers, null, 2)}\n`);
    return exitCodes.ok;
  }
  const head = ['NAME', 'PROVIDER', 'KEY VARIABLE', 'KEY', 'USUAL MODEL', 'WHERE TO GET A KEY'];
  const [first = '', ...lines] = formatTable([head, ...providers.map(cells)], Infinity);
  await streams.write(`${[streams.outStyle.dim(first), ...lines].join('\n')}\n`);
  streams.note('choose one with: talaria model set NAME');
  return exitCodes.ok;
}

function cells(provider: ProviderDescription): string[] {
  const { name, label, needs_key, has_key, key_address } = provider;
  const key = has_key ? 'known' : needs_key ? 'missing' : 'not needed';
  return [name, label, provider.key_variables[0] ?? '-', key, provider.usual_model ?? '-', key_address ?? '-'];
}
