/**
 * The ledger of effects as a process of its own: reads a named pipe that the effects are written to, one line for each
 * time, and keeps them in a file. What is in the pipe when its writer dies is kept all the same.
 */
import { constants, fsyncSync, openSync, writeSync } from 'node:fs';
import { Socket } from 'node:net';
import { serveRun } from './neighbour.ts';

const pipe = new Socket({
  // Open for writing too: so the pipe does not end when the last effect closes it.
  fd: openSync(process.env['LEDGER_PIPE'] ?? '', constants.O_RDWR | constants.O_NONBLOCK),
  readable: true,
  writable: false,
});
const file = openSync(process.env['LEDGER_FILE'] ?? '', 'a');
const lines: string[] = [];
const readers = new Map<string, () => void>();
let rest = '';

pipe.on('data', (chunk) => {
  const read = `${rest}${chunk.toString()}`.split('\n');
  rest = read.pop() ?? '';
  const effects = read.filter((line) => !readers.has(line));
  if (effects.length > 0) {
    writeSync(file, effects.map((line) => `${line}\n`).join(''));
    fsyncSync(file);
    lines.push(...effects);
  }
  for (const line of read) readers.get(line)?.();
});

/** Asked with a line that the reader is about to write to the pipe: all that was written before it has been read then. */
serveRun((marker) => {
  if (typeof marker !== 'string') return null;
  return new Promise((resolve) => {
    readers.set(marker, () => {
      readers.delete(marker);
      resolve(lines);
    });
  });
});
