/** `talaria setup telegram`: the token is asked for without being shown, checked with Telegram, and written to `.env`. */
import { setConfigValue } from '../config/edit.ts';
import { resolveHome } from '../config/home.ts';
import { loadConfig } from '../config/load.ts';
import { printable } from '../tui/printable.ts';
import type { CommandInput } from './arguments.ts';
import { CliError, exitCodes, type CommandContext, type ExitCode } from './command.ts';
import { askSecret, readSecretLine } from './read-secret.ts';

export async function setupTelegramCommand(context: CommandContext, input: CommandInput): Promise<ExitCode> {
  const { streams, env } = context;
  const home = resolveHome(env);
  const token = await readToken(context, input);
  const { config } = await loadConfig({ home, env });
  if (config === null) throw new CliError('failed', 'the configuration has mistakes; see talaria config check');
  const { checkTelegram } = await import('../app/check-telegram.ts');
  const checked = await checkTelegram(token, config.channels.telegram.api_root);
  if (!checked.ok) throw new CliError('failed', `nothing was changed: ${checked.text}`);
  await setConfigValue({ home, env }, 'channels.telegram.token', token);
  streams.note(printable(`the token works: it is @${checked.botName}`));
  streams.note('start the gateway (again), then write to the bot: it answers with a code');
  streams.note('let yourself in with: talaria pairing approve CODE');
  return exitCodes.ok;
}

function readToken(context: CommandContext, input: CommandInput): Promise<string> {
  if (input.has('token-stdin')) return readSecretLine(context);
  if (!context.streams.stdinIsTty || !context.streams.stderrIsTty) {
    throw new CliError('wrongUsage', 'there is nobody to ask; give the token with --token-stdin');
  }
  context.streams.note('Talk to @BotFather on Telegram, send /newbot, and copy the token that it gives you.');
  return askSecret(context, 'Token (not shown): ');
}
