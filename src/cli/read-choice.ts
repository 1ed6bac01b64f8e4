/** What a person typed who was to name a provider, or a provider and a model. */
import type { ModelChoice } from '../app/model-choice.ts';
import { CliError } from './command.ts';

/** `PROVIDER` or `PROVIDER/NAME`; anything else is wrong usage. */
export async function readChoice(typed: string): Promise<ModelChoice> {
  const { readProviderChoice } = await import('../app/model-choice.ts');
  try {
    return readProviderChoice(typed);
  } catch (error) {
    if (!(error instanceof Error) || error.name !== 'AppError') throw error;
    throw new CliError('wrongUsage', error.message, { cause: error });
  }
}
