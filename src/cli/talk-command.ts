/** `talaria` without a command: the chat for a person at a terminal, otherwise one question and its answer. */
import { sessionNameProblem } from '../protocol/ids.ts';
import type { CommandInput } from './arguments.ts';
import { CliError, type CommandContext, type ExitCode } from './command.ts';
import type { Question } from './ask-once.ts';

export async function talkCommand(context: CommandContext, input: CommandInput): Promise<ExitCode> {
  const { streams } = context;
  const session = sessionChoice(input);
  const prompt = input.value('prompt');
  if (prompt === null && streams.stdinIsTty) {
    if (!streams.stdoutIsTty || input.has('json')) {
      throw new CliError('wrongUsage', 'there is nothing to ask; give a prompt with -p TEXT or on standard input');
    }
    const { chatCommand } = await import('./chat-command.ts');
    return chatCommand(context, session);
  }
  const { readPrompt } = await import('./read-prompt.ts');
  const text = await readPrompt(streams, prompt, context.interrupt);
  const { oneShot } = await import('./one-shot.ts');
  return oneShot(context, { session, text, json: input.has('json') });
}

function sessionChoice(input: CommandInput): Question['session'] {
  const name = input.value('session');
  if (name === null) return { kind: input.has('continue') ? 'latest' : 'new' };
  if (input.has('continue')) {
    throw new CliError('wrongUsage', '--session and --continue exclude each other; give one of them');
  }
  const problem = sessionNameProblem(name);
  if (problem !== null) throw new CliError('wrongUsage', `--session ${JSON.stringify(name.slice(0, 80))}: ${problem}`);
  return { kind: 'named', name };
}
