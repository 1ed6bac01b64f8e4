/**
 * The tool `memory`: one line at a time into `MEMORY.md`, a file that its owner can read and edit. It is small on
 * purpose: all of it is part of the prompt of every later session. Adds happen one after the other; what was stored is
 * said word for word.
 */
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { writeFileAtomically } from '../../lib/atomic-file.ts';
import { defineTool } from '../define-tool.ts';
import { plainText } from '../output-bound.ts';
import type { Tool, ToolOutcome } from '../tool.ts';
import { fileProblem, hasCode } from '../workspace-path.ts';

export const memoryFileName = 'MEMORY.md';
export const entryCharsMax = 500;
export const memoryCharsMax = 4_000;

const schema = z.strictObject({
  action: z.literal('add'),
  text: z.string().check(z.describe(`One fact in one line, at most ${entryCharsMax} characters.`)),
});

export function createMemoryTool(deps: { readonly folder: string }): Tool<z.output<typeof schema>> {
  let lastAdd: Promise<unknown> = Promise.resolve();
  return defineTool({
    name: 'memory',
    description:
      'Remembers a lasting fact about the user or their work across sessions. It shows in sessions that start later.',
    effect: 'write',
    replay: 'never',
    schema,
    run({ text }) {
      // Two adds that read the same file would lose one of the lines.
      const add = lastAdd.then(() => addEntry(deps.folder, text));
      lastAdd = add;
      return add;
    },
  });
}

/** Never throws, so that the next add can follow. */
async function addEntry(folder: string, text: string): Promise<ToolOutcome> {
  const fact = plainText(text).replace(/\s+/g, ' ').trim().toWellFormed();
  if (fact === '') return failed('There is nothing to remember: the text is empty.');
  if (fact.length > entryCharsMax) {
    return failed(`Nothing was stored: the text has ${fact.length} characters, and an entry at most ${entryCharsMax}.`);
  }
  const path = join(folder, memoryFileName);
  const line = `- ${fact}`;
  try {
    const before = await textOrEmpty(path);
    if (before.split(/\r?\n/).includes(line)) return { kind: 'finished', text: `Already in memory: ${line}` };
    const after = `${before}${before === '' || before.endsWith('\n') ? '' : '\n'}${line}\n`;
    if (after.length > memoryCharsMax) return failed(fullText(before.length, path));
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await writeFileAtomically(path, after, before === '' ? { mode: 0o600 } : {});
    return { kind: 'finished', text: `Stored in memory: ${line}` };
  } catch (error) {
    return failed(`Nothing was stored: ${path} can't be changed: ${fileProblem(error)}.`);
  }
}

async function textOrEmpty(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return '';
    throw error;
  }
}

function fullText(charsNow: number, path: string): string {
  return (
    `Nothing was stored: memory is full (${charsNow} of ${memoryCharsMax} characters). ` +
    `The user can shorten ${path} by hand.`
  );
}

function failed(text: string): ToolOutcome {
  return { kind: 'failed', text };
}
