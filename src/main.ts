/** The process: its signals and its exit code. The first signal asks the command to end well, the second one ends it. */
import { enableCompileCache } from './lib/compile-cache.ts';

enableCompileCache();
const { run } = await import('./cli/run.ts');
const { Interrupted } = await import('./cli/command.ts');

const interrupting = new AbortController();
let abruptExitCode = 130;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    if (interrupting.signal.aborted) process.exit(abruptExitCode);
    interrupting.abort(new Interrupted());
  });
}

const exitCode = await run({
  argv: process.argv.slice(2),
  process,
  interrupt: interrupting.signal,
  setAbruptExitCode(code) {
    abruptExitCode = code;
  },
});
// Whatever is still open after the command has ended (a socket of a gateway that hangs) must not keep us here.
process.exit(exitCode);
