/** The tool `patch`: replaces pieces of one text file, all of them or none, and shows what changed. */
import { isUtf8 } from 'node:buffer';
import * as z from 'zod/mini';
import { defineTool } from '../define-tool.ts';
import type { Tool, ToolContext, ToolOutcome } from '../tool.ts';
import { applyEdits } from './apply-edits.ts';
import { asSettled, settleAnswer, type Approved } from './ask-first.ts';
import { changeFile, takeUpChange, type Becomes, type Existing } from './change-file.ts';
import { wholeFileBytesMax, type FileDeps } from './file-deps.ts';
import { unifiedDiff } from './unified-diff.ts';
import { workedOn } from './worked-on.ts';

export const editsMax = 100;
const diffCharsMax = 12_000;

const schema = z.strictObject({
  path: z.string(),
  edits: z
    .array(
      z.strictObject({
        old: z.string(),
        new: z.string(),
        all: z.optional(z.boolean()),
      }),
    )
    .check(z.minLength(1), z.maxLength(editsMax)),
});

type PatchInput = z.output<typeof schema>;

export function createPatchTool(deps: FileDeps): Tool<PatchInput> {
  const patch = (input: PatchInput, context: ToolContext, approved: Approved): Promise<ToolOutcome> => {
    const becomes = (existing: Existing) => edited(input, existing);
    return changeFile(deps, { tool: 'patch', path: input.path, approved, showsOld: true, becomes }, context);
  };
  const tool = defineTool({
    name: 'patch',
    description: 'Edits a text file, all edits or none: old is exact and found once, or all is true. Returns the diff.',
    effect: 'write',
    replay: 'attach',
    schema,
    run: (input, context) => patch(input, context, null),
    attach: (input, context, settled) =>
      takeUpChange(deps, { path: input.path, content: null }, context, () =>
        asSettled(deps.gate, settled, context, (approved) => patch(input, context, approved)),
      ),
    sideBySide: ({ path }) => workedOn(path),
    worksOn: ({ path }) => [path],
  });
  return {
    ...tool,
    answered: (input, answer, context, asked) =>
      settleAnswer(deps.gate, asked, answer, context, (approved) => patch(input, context, approved)),
  };
}

function edited({ edits }: PatchInput, { shown, content, seen, sha256 }: Existing): Becomes {
  const failure = (text: string): Becomes => ({ kind: 'failed', text: `${text} Nothing was written.` });
  if (content === null) return failure(`${shown} does not exist. To create it, use write_file.`);
  if (!isUtf8(content) || content.includes(0)) return failure(`${shown} is not a text file in UTF-8.`);
  const before = content.toString();
  const result = applyEdits(before, edits);
  const hasChanged = seen !== null && seen !== sha256;
  if (result.kind === 'failed') {
    return failure(hasChanged ? `${result.problem} ${shown} has changed since it was read.` : result.problem);
  }
  const after = Buffer.from(result.text);
  if (after.length > wholeFileBytesMax) return failure(`${shown} would become too large.`);
  const notes = [
    ...(result.loose.length > 0 ? [`[edit ${result.loose.join(', ')} fitted with another indentation]`] : []),
    ...(hasChanged ? [`[${shown} had changed since it was read]`] : []),
  ];
  const diff = unifiedDiff(before, result.text, { charsMax: diffCharsMax });
  return { kind: 'content', content: after, text: [`changed ${shown}`, ...notes, diff].join('\n') };
}
