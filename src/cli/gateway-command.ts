/** `talaria gateway`: the gateway in the foreground. The line that says where it listens is for scripts to wait for. */
import { runGateway } from '../app/run-gateway.ts';
import { resolveHome } from '../config/home.ts';
import type { CommandInput } from './arguments.ts';
import { exitCodes, type CommandContext, type ExitCode } from './command.ts';
import { wholeNumber } from './whole-number.ts';

const portMax = 65_535;

export async function gatewayCommand(context: CommandContext, input: CommandInput): Promise<ExitCode> {
  const { streams, env, verbose, interrupt } = context;
  const host = input.value('host');
  const port = wholeNumber(input, 'port', { min: 0, max: portMax });
  const home = resolveHome(env);
  // Leaving without having drained is not what the operator asked for.
  context.setAbruptExitCode(exitCodes.failed);
  const code = await runGateway({
    home,
    env,
    verbose,
    ...(host === null ? {} : { host }),
    ...(port === null ? {} : { port }),
    signal: interrupt,
    onReady(url) {
      // Every address of the machine is none that a browser can open.
      const address = url.replace(/\/\/(0\.0\.0\.0|\[::\]):/, '//localhost:');
      const forPeople = `\nOpen ${address} in a browser, or talk to it with: talaria\nCtrl-C stops it.\n`;
      // Whoever started it may have stopped reading; the gateway goes on.
      streams.write(`listening on ${url}\n${streams.stdoutIsTty ? forPeople : ''}`).catch(() => {});
    },
    onNote: (line) => streams.note(`talaria: ${line}`),
  });
  return code === 0 ? exitCodes.ok : exitCodes.failed;
}
