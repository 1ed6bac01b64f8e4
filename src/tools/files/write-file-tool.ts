/** The tool `write_file`: replaces or creates one text file, as a whole or not at all. */
import * as z from 'zod/mini';
import { defineTool } from '../define-tool.ts';
import { grouped } from '../output-bound.ts';
import type { Tool, ToolContext, ToolOutcome } from '../tool.ts';
import { asSettled, settleAnswer, type Approved } from './ask-first.ts';
import { changeFile, takeUpChange, type Becomes, type Existing } from './change-file.ts';
import { failed, type FileDeps } from './file-deps.ts';
import { workedOn } from './worked-on.ts';

export const contentBytesMax = 2_000_000;

const schema = z.strictObject({
  path: z.string(),
  content: z.string(),
  overwrite: z.optional(z.boolean().check(z.describe('Also if it was not read, or changed since.'))),
});

type WriteInput = z.output<typeof schema>;

export function createWriteFileTool(deps: FileDeps): Tool<WriteInput> {
  const write = (input: WriteInput, context: ToolContext, approved: Approved) =>
    writeFile(deps, input, context, approved);
  const tool = defineTool({
    name: 'write_file',
    description: 'Writes a whole text file, with missing folders. Read a file that exists first.',
    effect: 'write',
    replay: 'attach',
    schema,
    run: (input, context) => write(input, context, null),
    attach: (input, context, settled) =>
      takeUpChange(deps, { path: input.path, content: Buffer.from(input.content) }, context, () =>
        asSettled(deps.gate, settled, context, (approved) => write(input, context, approved)),
      ),
    sideBySide: ({ path }) => workedOn(path),
    worksOn: ({ path }) => [path],
  });
  return {
    ...tool,
    answered: (input, answer, context, asked) =>
      settleAnswer(deps.gate, asked, answer, context, (approved) => write(input, context, approved)),
  };
}

async function writeFile(
  deps: FileDeps,
  { path, content, overwrite }: WriteInput,
  context: ToolContext,
  approved: Approved,
): Promise<ToolOutcome> {
  const bytes = Buffer.from(content);
  if (bytes.length > contentBytesMax) {
    const limit = grouped(contentBytesMax);
    return failed(`The content has ${grouped(bytes.length)} bytes, more than the ${limit} that one call may write.`);
  }
  const becomes = (existing: Existing): Becomes => {
    const problem = overwrite === true ? null : whyNotOverwrite(existing);
    if (problem !== null) return { kind: 'failed', text: problem };
    const counts = `${counted(linesIn(content), 'line')}, ${counted(bytes.length, 'byte')}`;
    return { kind: 'content', content: bytes, text: `wrote ${counts} to ${existing.shown}` };
  };
  return changeFile(deps, { tool: 'write_file', path, approved, showsOld: false, becomes }, context);
}

function whyNotOverwrite({ shown, seen, sha256 }: Existing): string | null {
  if (sha256 === null || seen === sha256) return null;
  if (seen === null) {
    return `${shown} exists and has not been read here. Read it first, or pass "overwrite": true. Nothing was written.`;
  }
  return `${shown} has changed since it was read. Read it again, or pass "overwrite": true. Nothing was written.`;
}

function linesIn(content: string): number {
  const ends = content.split('\n').length - 1;
  return content === '' || content.endsWith('\n') ? ends : ends + 1;
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
