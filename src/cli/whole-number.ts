/** Reads an option that is a whole number within bounds; anything else is wrong usage. */
import type { CommandInput } from './arguments.ts';
import { CliError } from './command.ts';

export function wholeNumber(input: CommandInput, option: string, bounds: { min: number; max: number }): number | null {
  const text = input.value(option);
  if (text === null) return null;
  const value = /^\d{1,15}$/.test(text) ? Number(text) : NaN;
  if (value >= bounds.min && value <= bounds.max) return value;
  const given = JSON.stringify(text.slice(0, 40));
  throw new CliError(
    'wrongUsage',
    `--${option} needs a whole number from ${bounds.min} to ${bounds.max}, not ${given}`,
  );
}
