/**
 * The standard streams of the process. Results go to stdout and wait for a slow reader; words for the person go to
 * stderr. A reader that goes away (`| head`) is no error: `OutputClosed` ends the command silently.
 */
import { printableLine } from '../tui/printable.ts';
import { createStyle, wantsColour, type Style } from '../tui/style.ts';

const eraseLine = '\r\u001b[K';

export interface Streams {
  readonly stdin: NodeJS.ReadStream;
  readonly stdinIsTty: boolean;
  readonly stdoutIsTty: boolean;
  readonly stderrIsTty: boolean;
  /** How wide a line may be; 80 where nobody knows. */
  readonly columns: number;
  readonly outStyle: Style;
  readonly errStyle: Style;
  /** Resolves when the reader can take more. */
  write(data: string | Uint8Array): Promise<void>;
  /** One line on stderr. Never throws: there is nobody left to tell. */
  note(line: string): void;
  /** A line on stderr that the next output replaces; empty: only erases. Does nothing where stderr is no terminal. */
  status(line: string): void;
}

/** Whoever read our output has left. */
export class OutputClosed extends Error {
  override readonly name = 'OutputClosed';
}

type Process = Pick<NodeJS.Process, 'stdin' | 'stdout' | 'stderr' | 'env'>;

export function createStreams(process: Process): Streams {
  const { stdout, stderr, env } = process;
  // Without a listener a failed write would end the process with a stack trace; each write reports its own failure.
  stdout.on('error', () => {});
  stderr.on('error', () => {});
  let isStatusShown = false;
  const eraseStatus = () => {
    if (isStatusShown) stderr.write(eraseLine);
    isStatusShown = false;
  };
  return {
    get stdin() {
      return process.stdin;
    },
    get stdinIsTty() {
      return process.stdin.isTTY;
    },
    stdoutIsTty: stdout.isTTY,
    stderrIsTty: stderr.isTTY,
    get columns() {
      return stdout.isTTY ? stdout.columns : 80;
    },
    outStyle: createStyle(wantsColour(env, stdout.isTTY)),
    errStyle: createStyle(wantsColour(env, stderr.isTTY)),
    write: (data) =>
      new Promise((resolve, reject) => {
        eraseStatus();
        stdout.write(data, (error) => {
          if (error === null || error === undefined) resolve();
          else reject(isClosed(error) ? new OutputClosed('the reader of the output has left') : error);
        });
      }),
    note(line) {
      eraseStatus();
      stderr.write(`${line}\n`);
    },
    status(line) {
      eraseStatus();
      if (!stderr.isTTY || line === '') return;
      // A line that wraps could not be erased as a whole.
      stderr.write(printableLine(line, stderr.columns - 1));
      isStatusShown = true;
    },
  };
}

function isClosed(error: Error): boolean {
  return 'code' in error && (error.code === 'EPIPE' || error.code === 'ERR_STREAM_DESTROYED');
}
