/** The tool `write_file`: replaces or creates one text file in the workspace, as a whole or not at all. */
import { access, constants, mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import * as z from 'zod/mini';
import { writeFileAtomically } from '../../lib/atomic-file.ts';
import { defineTool } from '../define-tool.ts';
import { grouped } from '../output-bound.ts';
import type { Tool, ToolContext, ToolOutcome } from '../tool.ts';
import { fileProblem, hasCode, placeInWorkspace } from '../workspace-path.ts';
import { workedOn } from './worked-on.ts';

export const contentBytesMax = 2_000_000;

const schema = z.strictObject({
  path: z.string().check(z.minLength(1), z.describe('Relative to the workspace. Missing folders are created.')),
  content: z.string().check(z.describe('The whole new text of the file.')),
});

type WriteInput = z.output<typeof schema>;

export function createWriteFileTool(): Tool<WriteInput> {
  return defineTool({
    name: 'write_file',
    description: 'Writes a text file in the workspace. A file that exists is replaced as a whole.',
    effect: 'write',
    replay: 'never',
    schema,
    run: writeFile,
    sideBySide: ({ path }) => workedOn(path),
  });
}

async function writeFile({ path, content }: WriteInput, context: ToolContext): Promise<ToolOutcome> {
  const bytes = Buffer.byteLength(content);
  if (bytes > contentBytesMax) {
    const limit = grouped(contentBytesMax);
    return failed(`The content has ${grouped(bytes)} bytes, more than the ${limit} that one call may write.`);
  }
  if (path.endsWith('/')) return failed(`${path} names a folder. Give the path of a file.`);
  const place = await placeInWorkspace(context.workspace, path);
  if (place.kind === 'refused') return failed(place.problem);
  try {
    const problem = await whyNotReplaceable(place.path);
    if (problem !== null) return failed(`${place.shown} ${problem}, so nothing was written.`);
    context.signal.throwIfAborted();
    await mkdir(dirname(place.path), { recursive: true });
    await writeFileAtomically(place.path, content);
  } catch (error) {
    context.signal.throwIfAborted();
    return failed(`${place.shown} could not be written: ${fileProblem(error)}.`);
  }
  return {
    kind: 'finished',
    text: `wrote ${counted(linesIn(content), 'line')}, ${counted(bytes, 'byte')} to ${place.shown}`,
  };
}

/** Null if there is no such file yet, or one that may be replaced. */
async function whyNotReplaceable(path: string): Promise<string | null> {
  try {
    const found = await stat(path);
    if (found.isDirectory()) return 'is a folder';
    if (!found.isFile()) return 'is not a regular file';
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return null;
    throw error;
  }
  // Replacing needs only the folder's permission; a file marked read-only is meant to stay as it is.
  return access(path, constants.W_OK).then(
    () => null,
    () => 'is read-only',
  );
}

function linesIn(content: string): number {
  const ends = content.split('\n').length - 1;
  return content === '' || content.endsWith('\n') ? ends : ends + 1;
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

function failed(text: string): ToolOutcome {
  return { kind: 'failed', text };
}
