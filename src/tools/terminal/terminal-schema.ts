/** The arguments of `terminal`. Sent with every request, so each word counts; limits are checked apart and not sent. */
import * as z from 'zod/mini';

export const timeoutMaxS = 3_600;
const hostsMax = 20;
const hostPattern = /^[a-z0-9_.*-]{1,253}$/i;
const stdinCharsMax = 1_000_000;
const notifyCharsMax = 200;
const commandCharsMax = 256_000;

export const terminalSchema = z.strictObject({
  command: z.string(),
  timeout_s: z.optional(z.number()),
  cwd: z.optional(z.string()),
  stdin: z.optional(z.string()),
  pty: z.optional(z.boolean()),
  background: z.optional(z.boolean().check(z.describe('Returns an id for process'))),
  notify: z.optional(z.string().check(z.describe('Get a message on "exit", or on a line with this text (* = any)'))),
  hosts: z.optional(z.array(z.string()).check(z.describe('Internet hosts needed; asks the user'))),
  outside: z.optional(z.boolean().check(z.describe('No sandbox; asks the user'))),
});

export type TerminalInput = z.output<typeof terminalSchema>;

export const terminalDescription =
  "Runs bash in the session's sandbox; folder, variables, functions and background processes last between calls.";

/** A sentence about what can't be run as asked; null if all of it can. */
export function limitProblem({ command, timeout_s: seconds, stdin, notify, hosts }: TerminalInput): string | null {
  if (command.trim() === '') return 'The command is empty.';
  if (command.includes('\0')) return 'The command contains a NUL character. Leave it out.';
  if (command.length > commandCharsMax) {
    return 'The command is too long. Write it to a file with write_file and run that file.';
  }
  if (seconds !== undefined && !(seconds >= 1 && seconds <= timeoutMaxS)) {
    return `timeout_s must be from 1 to ${timeoutMaxS}; what takes longer can run in the background.`;
  }
  if (stdin !== undefined && stdin.length > stdinCharsMax)
    return 'stdin is too long. Write it to a file and read that.';
  if (notify !== undefined && (notify === '' || notify.length > notifyCharsMax)) {
    return `notify must be "exit" or a text of at most ${notifyCharsMax} characters.`;
  }
  const isHosts = hosts === undefined || (hosts.length <= hostsMax && hosts.every((host) => hostPattern.test(host)));
  return isHosts
    ? null
    : `hosts must be at most ${hostsMax} names like example.com, without a scheme, a port or a path.`;
}
