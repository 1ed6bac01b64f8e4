/** `talaria logs`: the end of the log as people read it, and with --follow what is written from then on. */
import { open, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { resolveHome } from '../config/home.ts';
import { sleep, systemClock } from '../lib/clock.ts';
import { formatTime } from '../tui/format-time.ts';
import { printable } from '../tui/printable.ts';
import type { CommandInput } from './arguments.ts';
import { exitCodes, type CommandContext, type ExitCode } from './command.ts';
import { wholeNumber } from './whole-number.ts';

const linesDefault = 100;
/** The end of the file that is looked at; the log's own lines are far shorter. */
const tailBytesMax = 16 * 1024 * 1024;
const lookEveryMs = 300;

export async function logsCommand(context: CommandContext, input: CommandInput): Promise<ExitCode> {
  const { streams, interrupt } = context;
  const count = wholeNumber(input, 'lines', { min: 1, max: 1_000_000 }) ?? linesDefault;
  const path = join(resolveHome(context.env), 'logs', 'talaria.log');
  const show = (line: string) => (input.has('json') ? `${line}\n` : `${inWords(line)}\n`);
  let from = 0;
  for (let isFirst = true; ; isFirst = false) {
    const piece = await readFrom(path, isFirst ? null : from);
    if (piece === null && isFirst && !input.has('follow')) {
      streams.note(`there is no log yet at ${path}`);
      return exitCodes.ok;
    }
    if (piece !== null) {
      from = piece.end;
      const lines = isFirst ? piece.lines.slice(-count) : piece.lines;
      if (lines.length > 0) await streams.write(lines.map(show).join(''));
    }
    if (!input.has('follow')) return exitCodes.ok;
    await sleep(systemClock, lookEveryMs, interrupt);
  }
}

/** Whole lines after a place in the file, or of its end; null if there is no file. A shorter file has been begun anew. */
async function readFrom(path: string, from: number | null): Promise<{ lines: string[]; end: number } | null> {
  let file: FileHandle;
  try {
    file = await open(path);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  }
  try {
    const { size } = await file.stat();
    const start = from === null ? Math.max(0, size - tailBytesMax) : from > size ? 0 : from;
    const bytes = Buffer.alloc(size - start);
    const { bytesRead } = await file.read(bytes, 0, bytes.length, start);
    const end = bytes.subarray(0, bytesRead).lastIndexOf(0x0a) + 1;
    const text = bytes.subarray(0, end).toString('utf8');
    return { lines: text.split('\n').slice(start > 0 && from === null ? 1 : 0, -1), end: start + end };
  } finally {
    await file.close();
  }
}

/** `2026-01-31 09:05 warn model call failed {"reason":"server"}` */
function inWords(line: string): string {
  const fields = parsed(line);
  if (fields === null) return printable(line);
  const { time, level, message, ...rest } = fields;
  const words = [level, message].filter((word) => typeof word === 'string').join(' ');
  const moment = typeof time === 'string' ? `${formatTime(Date.parse(time))} ` : '';
  return printable(`${moment}${words}${Object.keys(rest).length === 0 ? '' : ` ${JSON.stringify(rest)}`}`);
}

function parsed(line: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}
