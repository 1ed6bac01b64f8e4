/** `talaria model`: which models answer, take over and do side jobs, and how their keys are. */
import type { ModelDescription } from '../app/model-admin.ts';
import { systemClock } from '../lib/clock.ts';
import type { StatusReport } from '../protocol/api.ts';
import { restingKeyLines } from '../tui/model-words.ts';
import { printable } from '../tui/printable.ts';
import type { Style } from '../tui/style.ts';
import { countText } from '../protocol/usage-text.ts';
import type { CommandInput } from './arguments.ts';
import { exitCodes, type CommandContext, type ExitCode } from './command.ts';
import { openConnection } from './open-connection.ts';
import { openModels } from './open-models.ts';
import { formatTable } from './table.ts';

/** How a key is: null for one that works; undefined where nobody could be asked. */
type KeyRests = StatusReport['keys'] | null;

export async function modelCommand(context: CommandContext, input: CommandInput): Promise<ExitCode> {
  const { streams } = context;
  const { admin } = await openModels(context);
  const models = admin.describe();
  const rests = await keyRests(context);
  if (input.has('json')) {
    await streams.write(`${JSON.stringify({ models, keys: rests }, null, 2)}\n`);
    return exitCodes.ok;
  }
  await streams.write(`${modelLines(models, rests, systemClock.now(), streams.outStyle).join('\n')}\n`);
  for (const { role, problem } of models) if (problem !== null) streams.note(`talaria: ${role}: ${printable(problem)}`);
  if (rests === null) streams.note('talaria: another program uses the home, so it is not known which keys rest');
  return exitCodes.ok;
}

/** Kept in the store: asked of a gateway, or read here. */
async function keyRests(context: CommandContext): Promise<KeyRests> {
  const connected = await openConnection(context, 'model');
  if (connected.kind === 'held') return null;
  const { api, close } = connected.connection;
  try {
    return (await api.status()).keys;
  } finally {
    await close();
  }
}

export function modelLines(models: readonly ModelDescription[], rests: KeyRests, now: number, style: Style): string[] {
  const rows = models.map((model) => [
    model.role,
    printable(`${model.provider}/${model.name === '' ? '?' : model.name}`),
    model.origin === 'main' ? '' : countText(model.context_length),
    model.origin === 'main' ? '' : priceWords(model.price),
    model.origin === 'main' ? '' : keyWords(model, rests, now),
    noteWords(model),
  ]);
  const head = ['FOR', 'MODEL', 'CONTEXT', 'PRICE IN/CACHED/OUT', 'KEYS', ''];
  const [first = '', ...lines] = formatTable([head, ...rows], Infinity);
  const resting = rests === null ? [] : restingKeyLines(rests, now);
  return [style.dim(first), ...lines, ...(resting.length === 0 ? [] : ['', ...resting.map((line) => `key ${line}`)])];
}

function noteWords({ origin, problem }: ModelDescription): string {
  if (problem !== null) return 'can not answer, see below';
  if (origin === 'found') return 'found by itself';
  return origin === 'main' ? 'the main model' : '';
}

function priceWords(price: ModelDescription['price']): string {
  return price === null
    ? '?'
    : [price.input, price.cached_input, price.output].map((dollars) => `$${dollars}`).join(' ');
}

function keyWords({ provider, keys }: ModelDescription, rests: KeyRests, now: number): string {
  if (keys.length === 0) return '-';
  const isResting = (id: string) =>
    rests?.some((rest) => rest.provider === provider && rest.key === id && (rest.rests_until ?? 0) > now) ?? false;
  const working = keys.filter((id) => !isResting(id)).length;
  return working === keys.length ? String(keys.length) : `${working} of ${keys.length}`;
}
