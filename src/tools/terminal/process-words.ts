/** What the model and people are told about a background process: its state, and what it printed. */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../lib/clock.ts';
import type { CallId } from '../../protocol/ids.ts';
import { plainText } from '../output-bound.ts';
import { exitNotes, withNotes } from './command-outcome.ts';
import { collectOutput } from './output-collector.ts';
import { followOutput, readToEnd } from './output-follower.ts';
import { processState, readPolled, writePolled, type BackgroundProcess, type ProcessState } from './process-table.ts';
import { readBounded } from './read-bounded.ts';

const commandCharsMax = 80;
const logBytesMax = 262_144;

/** A line for a list. */
export async function summary(clock: Clock, process: BackgroundProcess): Promise<string> {
  const state = await processState(process);
  const untilMs = state.kind === 'running' ? clock.now() : await lastSeenAt(process);
  const seconds = Math.max(0, Math.round((untilMs - process.startedAt) / 1000));
  return `${process.id} ${stateWords(state)} (${seconds} s): ${oneLine(process.command)}`;
}

/** When it ended, or when something was last heard of it. */
async function lastSeenAt({ spool, startedAt }: BackgroundProcess): Promise<number> {
  for (const path of [join(spool.folder, 'exit'), spool.outputPath]) {
    const found = await stat(path).catch(() => null);
    if (found !== null) return found.mtimeMs;
  }
  return startedAt;
}

/** In brackets, for after an output. */
export function stateText(state: ProcessState): string {
  return `[${stateWords(state)}]`;
}

export function stateWords(state: ProcessState): string {
  switch (state.kind) {
    case 'running':
      return 'running';
    case 'not-begun':
      return 'not started';
    case 'lost':
      return 'lost with its sandbox or the machine; how it ended is not known';
    case 'ended': {
      if (state.cut === 'timeout') return 'ended at its time limit';
      if (state.cut === 'abort') return 'ended by kill';
      const notes = state.exit === null ? [] : exitNotes(state.exit);
      return `ended: ${notes[0]?.slice(1, -1) ?? 'exit code 0'}`;
    }
  }
}

/** What it printed since it was last asked for; the same call gets the same again. */
export async function newOutput(clock: Clock, process: BackgroundProcess, callId: CallId): Promise<string> {
  const polled = await readPolled(process);
  const from = polled.callId === callId ? polled.from : polled.to;
  const output = collectOutput(clock, () => {});
  const file = followOutput(process.spool.outputPath, output.push, from);
  await readToEnd(file);
  await file.close();
  await writePolled(process, { callId, from, to: file.position() });
  const told = output.end(process.spool.outputPath);
  return told.output === '' ? '[nothing new]' : withNotes(told, []);
}

/** The last lines of all that it printed. */
export async function lastLines({ spool }: BackgroundProcess, count: number): Promise<string> {
  const size = (await stat(spool.outputPath).catch(() => null))?.size ?? 0;
  const start = Math.max(0, size - logBytesMax);
  const text = plainText((await readBounded(spool.outputPath, logBytesMax, start))?.toString() ?? '').trimEnd();
  if (text === '') return '[no output]';
  const lines = text.split('\n');
  const isCut = start > 0 || lines.length > count;
  const shown = lines.slice(-count).join('\n');
  return isCut ? `${shown}\n[the whole output is in ${spool.outputPath}; read_file reads it]` : shown;
}

export function oneLine(command: string): string {
  const line = command.replaceAll(/\s+/g, ' ').trim();
  return line.length > commandCharsMax ? `${line.slice(0, commandCharsMax)}…` : line;
}
