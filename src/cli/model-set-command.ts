/**
 * `talaria model set`: chooses the model that answers. A key that is missing is asked for, and everything is tried with
 * a real small call before anything is written. Keys go into `.env`; comments in config.yaml stay.
 */
import type { ChosenModel } from '../app/model-admin.ts';
import type { ModelChoice, ProviderDescription } from '../app/model-choice.ts';
import type { ModelTrial } from '../app/try-model.ts';
import { setConfigValue } from '../config/edit.ts';
import type { Environment } from '../config/environment.ts';
import type { Config } from '../config/schema.ts';
import { printable } from '../tui/printable.ts';
import type { CommandInput } from './arguments.ts';
import { CliError, exitCodes, type CommandContext, type ExitCode } from './command.ts';
import { trialLine } from './model-test-command.ts';
import { openModels, type OpenedModels } from './open-models.ts';
import { readChoice } from './read-choice.ts';
import { askSecret, readSecretLine } from './read-secret.ts';

export async function modelSetCommand(context: CommandContext, input: CommandInput): Promise<ExitCode> {
  const { streams } = context;
  const asked = await readChoice(input.operands[0] ?? '');
  const models = await openModels(context);
  const baseUrl = input.value('base-url');
  const plain = baseUrl === null ? asked : { ...asked, baseUrl };
  const key = await newKey(context, input, models, plain);
  const given = key === null ? plain : { ...plain, key };
  const choice = input.has('no-check') ? given : await checked(context, input, models, given);
  await write(context, models, changesFor(models.config, choice));
  const { provider, name } = models.admin.choose(choice).description;
  streams.note(printable(`the model is now ${provider}/${name}; a running gateway takes it up by itself`));
  return exitCodes.ok;
}

/** A key that was given, or asked for because none is known; null if none is needed. */
async function newKey(
  context: CommandContext,
  input: CommandInput,
  { admin, environment }: OpenedModels,
  choice: ModelChoice,
): Promise<string | null> {
  if (input.has('key-stdin')) return readSecretLine(context);
  const provider = await providerOf(environment, choice);
  const isKnown = admin.choose(choice).description.keys.length > 0;
  if (provider === null || !provider.needs_key || isKnown) return null;
  if (canAsk(context)) return askKey(context, provider);
  if (input.has('no-check')) return null;
  const variable = provider.key_variables[0] ?? '';
  throw new CliError('failed', `no key for ${choice.provider} is known; give it with --key-stdin, or set ${variable}`);
}

/** The choice once it has answered. A person at the terminal may try another key instead of one that is refused. */
async function checked(
  context: CommandContext,
  input: CommandInput,
  { admin, environment }: OpenedModels,
  choice: ModelChoice,
): Promise<ModelChoice> {
  const problem = admin.choose(choice).description.problem;
  if (problem !== null) throw new CliError('failed', `nothing was changed: ${problem}`);
  const failure = await failureOf(context, admin.choose(choice));
  if (failure === null) return choice;
  const provider = await providerOf(environment, choice);
  const canRetry = failure.reason === 'auth' && canAsk(context) && !input.has('key-stdin') && choice.key === undefined;
  if (canRetry && provider !== null) {
    context.streams.note(printable(failure.problem));
    const other = { ...choice, key: await askKey(context, provider) };
    const again = await failureOf(context, admin.choose(other));
    if (again === null) return other;
    throw unchanged(again);
  }
  throw unchanged(failure);
}

type Failure = Extract<ModelTrial, { kind: 'failed' }>;

/** Null if a key of the model works. */
async function failureOf({ streams, interrupt }: CommandContext, model: ChosenModel): Promise<Failure | null> {
  const { provider, name } = model.description;
  streams.status(`asking ${provider}/${name} …`);
  const trials = await model.try(interrupt);
  interrupt.throwIfAborted();
  const answered = trials.filter(({ kind }) => kind === 'answered');
  for (const trial of answered) streams.note(trialLine(`${provider}/${name}`, trial));
  return answered.length > 0 ? null : (trials.find((trial) => trial.kind === 'failed') ?? null);
}

function unchanged({ problem }: Failure): CliError {
  return new CliError('failed', `nothing was changed: ${problem} (--key-stdin reads a key, --no-check writes anyway)`);
}

async function providerOf(environment: Environment, { provider }: ModelChoice): Promise<ProviderDescription | null> {
  const { describeProviders } = await import('../app/model-choice.ts');
  return describeProviders(environment).find(({ name }) => name === provider) ?? null;
}

function canAsk({ streams }: CommandContext): boolean {
  return streams.stdinIsTty && streams.stderrIsTty;
}

async function askKey(context: CommandContext, provider: ProviderDescription): Promise<string> {
  if (provider.key_address !== null) context.streams.note(`Keys of ${provider.label}: ${provider.key_address}`);
  return askSecret(context, `Key for ${provider.label} (not shown): `);
}

type Change = readonly [key: string, value: string];

/**
 * In an order in which every step makes a valid file: an address before the provider that needs one, the provider
 * before the key that is named after it. What was said about the model before is not true of another one.
 */
export function changesFor({ model }: Pick<Config, 'model'>, { provider, name, key, baseUrl }: ModelChoice): Change[] {
  const isOtherProvider = model.provider !== provider;
  const isOther = isOtherProvider || (name !== null && name !== model.name);
  const isSet = (value: unknown) => value !== null && !(Array.isArray(value) && value.length === 0);
  const unsetIf = (isWanted: boolean, option: keyof Config['model']): Change[] =>
    isWanted && isSet(model[option]) ? [[`model.${option}`, 'null']] : [];
  return [
    ...(baseUrl === undefined ? [] : [['model.base_url', baseUrl] as const]),
    ['model.provider', provider],
    ...(name === null ? unsetIf(isOtherProvider, 'name') : [['model.name', name] as const]),
    ...(key === undefined ? unsetIf(isOtherProvider, 'api_key') : [['model.api_key', key] as const]),
    ...(baseUrl === undefined ? unsetIf(isOtherProvider && provider !== 'custom', 'base_url') : []),
    ...unsetIf(isOtherProvider, 'api_mode'),
    ...unsetIf(isOther, 'context_length'),
    ...unsetIf(isOther, 'max_output_tokens'),
    ...unsetIf(isOther, 'price'),
  ];
}

async function write(
  { streams, env }: CommandContext,
  { home }: OpenedModels,
  changes: readonly Change[],
): Promise<void> {
  for (const [key, value] of changes) {
    const outcome = await setConfigValue({ home, env }, key, value);
    if (outcome.kind === 'refused') throw new CliError('failed', `${key} can't be set: ${outcome.message}`);
    for (const name of outcome.secretNames) streams.note(`the key is in .env as ${name}`);
    if (value === 'null') streams.note(`${key} was about another model and is not set any more`);
  }
}
