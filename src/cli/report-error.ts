/**
 * Turns whatever ended a command into one line on stderr that says what to do next, and an exit code. With
 * `--verbose` the stack follows. Layers bring their own words for the user; here only the file system's errors and
 * bugs are given some.
 */
import { printable } from '../tui/printable.ts';
import { CliError, exitCodes, type ExitCode } from './command.ts';
import type { Streams } from './streams.ts';

/** Errors of other layers whose message is written for the user. By name, so that reporting loads none of them. */
const layerErrors = new Set([
  'ApiError',
  'AppError',
  'ConfigError',
  'HomeError',
  'ModelError',
  'StoreError',
  'TarError',
]);

export function reportError(error: unknown, to: { streams: Pick<Streams, 'note'>; verbose: boolean }): ExitCode {
  const name = error instanceof Error ? error.name : '';
  // Nobody is there to read a word; or the user ended it and knows.
  if (name === 'OutputClosed') return exitCodes.ok;
  if (name === 'Interrupted') return exitCodes.interrupted;

  to.streams.note(`talaria: ${oneLine(describeError(error))}`);
  if (to.verbose && error instanceof Error) to.streams.note(printable(error.stack ?? ''));
  return error instanceof CliError ? error.exitCode : exitCodes.failed;
}

/** The sentence for the user, without the program's name. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return internal(String(error));
  if (error instanceof CliError || layerErrors.has(error.name)) return error.message;
  return systemErrorText(error) ?? internal(error.message);
}

function internal(message: string): string {
  return `internal error: ${message}; this is a bug in Talaria, run the command again with --verbose to see where`;
}

const adviceByCode: Readonly<Record<string, string>> = {
  EACCES: 'permission denied; run as the owner of it, or change its permissions',
  EPERM: 'the system does not permit it; run as the owner of it',
  EROFS: 'the file system is read-only; choose another place or remount it',
  ENOSPC: 'no space is left on the device; free some and try again',
  EDQUOT: 'the disk quota is used up; free some space and try again',
  ENOENT: 'there is no such file or folder',
  ENOTDIR: 'a part of the path is not a folder',
  EISDIR: 'that is a folder, a file is needed',
  EEXIST: 'it exists already',
  EMFILE: 'too many files are open; raise the limit with ulimit -n',
  ENAMETOOLONG: 'the name is too long',
  EADDRINUSE: 'the port is in use; choose another with --port',
};

function systemErrorText(error: Error): string | null {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  const advice = adviceByCode[code];
  if (advice === undefined) return null;
  const path = 'path' in error && typeof error.path === 'string' ? `${error.path}: ` : '';
  return `${path}${advice}`;
}

function oneLine(text: string): string {
  return printable(text).replace(/\s*\n\s*/g, ' ');
}
