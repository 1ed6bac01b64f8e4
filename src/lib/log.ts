/**
 * Structured log: one JSON object a line, `time`, `level`, `message` first. Writing never throws into the caller and
 * every line passes the redactor. Where lines go is the caller's choice.
 */
import type { Clock } from './clock.ts';
import type { Redactor } from './redact.ts';

const ranks = { debug: 10, info: 20, warn: 30, error: 40, silent: 99 } as const;
export type LogLevel = keyof typeof ranks;
export type LogFields = Readonly<Record<string, unknown>>;

export interface Log {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** The same log with these fields on every line. */
  with(fields: LogFields): Log;
}

export interface LogDeps {
  readonly clock: Clock;
  readonly redactor: Redactor;
  readonly level: LogLevel;
  readonly writeLine: (line: string) => void;
}

export function createLog(deps: LogDeps, bound: LogFields = {}): Log {
  const write = (level: Exclude<LogLevel, 'silent'>, message: string, fields: LogFields = {}) => {
    if (ranks[level] < ranks[deps.level]) return;
    const head = { time: new Date(deps.clock.now()).toISOString(), level, message };
    try {
      deps.writeLine(deps.redactor.redact(stringify(head, bound, fields)));
    } catch {
      // A log that can't be written must not stop the work that it tells about.
    }
  };
  return {
    debug: (message, fields) => write('debug', message, fields),
    info: (message, fields) => write('info', message, fields),
    warn: (message, fields) => write('warn', message, fields),
    error: (message, fields) => write('error', message, fields),
    with: (fields) => createLog(deps, { ...bound, ...fields }),
  };
}

export const silentLog: Log = {
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
  with: () => silentLog,
};

/** The head comes first and wins: a field of the same name can't change what a line is. */
function stringify(head: LogFields, bound: LogFields, fields: LogFields): string {
  try {
    return JSON.stringify({ ...head, ...bound, ...fields, ...head }, (_key, value: unknown) => {
      if (value instanceof Error)
        return { name: value.name, message: value.message, stack: value.stack, cause: value.cause };
      return typeof value === 'bigint' ? value.toString() : value;
    });
  } catch {
    // A field that can't be written (a ring, a throwing getter) must not cost the line.
    return JSON.stringify({ ...head, fields: 'unprintable' });
  }
}
