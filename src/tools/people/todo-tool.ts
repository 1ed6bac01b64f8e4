/**
 * The tool `todo`: the list of what is to be done in this session. Always given and told as a whole, so that the model and
 * the file can't disagree; it is kept beside the session's calls, and outlives a shortened conversation.
 */
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { writeFileAtomically } from '../../lib/atomic-file.ts';
import { defineTool } from '../define-tool.ts';
import { plainText } from '../output-bound.ts';
import type { Tool, ToolOutcome } from '../tool.ts';
import { fileProblem, hasCode } from '../workspace-path.ts';

const itemsMax = 50;
const itemCharsMax = 300;
const fileName = 'todo.json';

const states = ['open', 'doing', 'done'] as const;
const marks = { open: '[ ]', doing: '[>]', done: '[x]' } as const;

const listSchema = z
  .array(
    z.strictObject({
      text: z.string().check(z.minLength(1), z.maxLength(itemCharsMax)),
      state: z.enum(states),
    }),
  )
  .check(z.maxLength(itemsMax));

const schema = z.strictObject({ items: z.optional(listSchema) });
type Items = z.output<typeof listSchema>;

export function createTodoTool(): Tool<z.output<typeof schema>> {
  return defineTool({
    name: 'todo',
    description: 'Your list for long work. With items: replaces all of it. Without: shows it.',
    effect: 'write',
    // The same list written twice is the same list.
    replay: 'safe',
    schema,
    sideBySide: () => ['todo'],
    async run({ items }, { spoolFolder }): Promise<ToolOutcome> {
      const path = join(spoolFolder, fileName);
      try {
        if (items === undefined) return { kind: 'finished', text: shown(await readItems(path)) };
        const clean = items.map((item) => ({ ...item, text: plainText(item.text).replaceAll(/\s+/g, ' ').trim() }));
        await mkdir(spoolFolder, { recursive: true, mode: 0o700 });
        await writeFileAtomically(path, `${JSON.stringify(clean)}\n`, { mode: 0o600 });
        return { kind: 'finished', text: shown(clean) };
      } catch (error) {
        return { kind: 'failed', text: `The list could not be kept: ${fileProblem(error)}.` };
      }
    },
  });
}

async function readItems(path: string): Promise<Items> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return [];
    throw error;
  }
  const read = listSchema.safeParse(JSON.parse(text));
  return read.success ? read.data : [];
}

function shown(items: Items): string {
  if (items.length === 0) return 'The list is empty.';
  const left = items.filter(({ state }) => state !== 'done').length;
  const lines = items.map(({ text, state }) => `${marks[state]} ${text}`);
  return [...lines, left === 0 ? 'All done.' : `${left} of ${items.length} left.`].join('\n');
}
