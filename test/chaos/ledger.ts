/**
 * The ledger of effects: what commands did to the world, one line for each time, in a file that no kill touches. What a
 * run remembers in the home's memory counts too: it can't be taken up again, as a command can.
 */
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ToolCallPart } from '../../src/protocol/messages.ts';

/** Appends its id to the ledger, in one write, and then takes its time. */
const effectScript = `#!/bin/sh\nprintf '%s\\n' "$1" >> "\${0%/*}/ledger"\nsleep "$2"\necho done\n`;

export async function createLedger(folder: string): Promise<void> {
  await writeFile(join(folder, 'effect.sh'), effectScript);
  await chmod(join(folder, 'effect.sh'), 0o755);
  await writeFile(join(folder, 'ledger'), '');
}

/** The command that does an effect and then takes a while. */
export function effectCommand(folder: string, id: string, seconds: number): string {
  return `${join(folder, 'effect.sh')} ${id} ${seconds}`;
}

/** What to remember, so that it is found again. */
export function memoryOf(id: string): string {
  return `the effect ${id} of this`;
}

/** The effect that a call asks for; null if it asks for something else. */
export function effectOf(call: ToolCallPart): string | null {
  return /effect(?:\.sh)? (\S+) /.exec(call.arguments)?.[1] ?? null;
}

/** The effects that happened, one for each time. */
export async function readLedger(folder: string, home: string): Promise<string[]> {
  const ran = (await readFile(join(folder, 'ledger'), 'utf8')).split('\n').filter((line) => line !== '');
  const memory = await readFile(join(home, 'memories', 'MEMORY.md'), 'utf8').catch(() => '');
  const remembered = [...memory.matchAll(/the effect (\S+) of this/g)].map(([, id = '']) => id);
  return [...ran, ...remembered];
}
