/** `talaria model test`: asks a model one small thing for real, with each of its keys. */
import type { ModelTrial } from '../app/try-model.ts';
import { printable, printableLine } from '../tui/printable.ts';
import { tokensText } from '../protocol/usage-text.ts';
import type { CommandInput } from './arguments.ts';
import { CliError, exitCodes, type CommandContext, type ExitCode } from './command.ts';
import { openModels } from './open-models.ts';

const answerCharsMax = 60;

export async function modelTestCommand(context: CommandContext, input: CommandInput): Promise<ExitCode> {
  const { streams, interrupt } = context;
  const { admin } = await openModels(context);
  const [typed] = input.operands;
  const model = admin.choose(typed === undefined ? null : admin.read(typed));
  const { provider, name, problem } = model.description;
  if (problem !== null) throw new CliError('failed', problem);
  streams.status(`asking ${provider}/${name} …`);
  const trials = await model.try(interrupt);
  interrupt.throwIfAborted();
  const isFine = trials.every(({ kind }) => kind === 'answered');
  if (input.has('json')) {
    await streams.write(`${JSON.stringify({ provider, name, trials }, null, 2)}\n`);
  } else {
    await streams.write(`${trials.map((trial) => trialLine(`${provider}/${name}`, trial)).join('\n')}\n`);
  }
  return isFine ? exitCodes.ok : exitCodes.failed;
}

export function trialLine(model: string, trial: ModelTrial): string {
  const key = trial.key === '' ? '' : ` (key ${trial.key})`;
  const whom = printable(`${model}${key}`);
  if (trial.kind === 'failed') return `${whom} failed: ${printable(trial.problem)}`;
  const text = printableLine(trial.text, answerCharsMax);
  const said = text === '' ? 'answered without words' : `answered ${JSON.stringify(text)}`;
  return `${whom} ${said}; first word after ${secondsText(trial.first_ms)}, all after ${secondsText(trial.total_ms)}; ${tokensText(trial.usage)}`;
}

function secondsText(ms: number): string {
  return `${(ms / 1_000).toFixed(2)} s`;
}
