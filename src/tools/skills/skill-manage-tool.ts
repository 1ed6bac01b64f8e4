/**
 * The tool `skill_manage`: the agent writes and improves its own skills. Every change is shown as a diff and can be taken
 * back. A person is asked first where a stranger's text may have given the idea, where somebody else than the owner of the
 * home asks for it (skills are in everybody's prompts), and always if the operator wants it so. What they say yes to is
 * exactly what happens, or nothing.
 */
import * as z from 'zod/mini';
import type { SessionId } from '../../protocol/ids.ts';
import type { Gate, Plan } from '../approval.ts';
import { defineTool } from '../define-tool.ts';
import { afterAnswer, throughGate } from '../gated.ts';
import type { Tool, ToolContext, ToolOutcome } from '../tool.ts';
import { fileProblem } from '../workspace-path.ts';
import type { ChangeDeps, SkillChange } from './build-change.ts';
import type { MadeChange } from './change-skill.ts';
import { SkillError } from './skill-error.ts';
import { skillFileName } from './skill-limits.ts';

export interface SkillManageDeps extends ChangeDeps {
  readonly gate: Gate;
  /** `skills.write_approval`. */
  readonly asksAlways: () => boolean;
  /** Whether a session is the owner's own. */
  readonly isOwners: (sessionId: SessionId) => Promise<boolean>;
}

const schema = z.strictObject({
  action: z.enum(['create', 'edit', 'patch', 'remove', 'restore']),
  name: z.string(),
  path: z.optional(z.string()),
  text: z.optional(z.string()),
  old: z.optional(z.string()),
  version: z.optional(z.int()),
});

type Input = z.output<typeof schema>;

export function createSkillManageTool(deps: SkillManageDeps): Tool<Input> {
  let last: Promise<unknown> = Promise.resolve();
  /** Two changes that start from the same state would lose one of them. */
  const inTurn = (work: () => Promise<ToolOutcome>): Promise<ToolOutcome> => {
    const mine = last.then(work);
    last = mine.catch(() => {});
    return mine;
  };
  const tool = defineTool({
    name: 'skill_manage',
    description:
      'Keeps how to do a task for later sessions. create: text is SKILL.md. edit: writes a file. patch: old to text. restore: undoes.',
    effect: 'write',
    replay: 'never',
    schema,
    run: (input, context) =>
      inTurn(async () => {
        const change = toChange(input);
        if (typeof change === 'string') return failed(change);
        const isOwners = await deps.isOwners(context.sessionId);
        const reasons = reasonsToAsk(deps, context, isOwners);
        if (reasons.length === 0) return make(deps, change, null);
        const planned = await planOnly(deps, change);
        if ('kind' in planned) return planned;
        // In whatever mode approvals are: nobody writes into other people's prompts on their own.
        const asking = { ...context, untrusted: context.untrusted ?? (isOwners ? null : ('stranger' as const)) };
        return throughGate(deps.gate, planFor(change, planned, reasons), asking, (mark) => make(deps, change, mark));
      }),
  });
  return {
    ...tool,
    answered: (input, answer, context, asked) =>
      inTurn(() =>
        afterAnswer(deps.gate, asked, answer, context, async (mark) => {
          const change = toChange(input);
          return typeof change === 'string' ? failed(change) : make(deps, change, mark);
        }),
      ),
  };
}

function reasonsToAsk(deps: SkillManageDeps, context: ToolContext, isOwners: boolean): string[] {
  return [
    ...(context.untrusted === null ? [] : ['changes a skill after reading a stranger’s text']),
    ...(isOwners ? [] : ['changes a skill that everybody’s conversations use']),
    ...(deps.asksAlways() ? ['changes a skill, and skills.write_approval is on'] : []),
  ];
}

function planFor(change: SkillChange, { diff, mark }: Omit<MadeChange, 'kept'>, reasons: readonly string[]): Plan {
  const path = 'path' in change && change.path !== null ? `/${change.path}` : '';
  return {
    kind: 'self',
    subject: `skill ${change.name}`,
    shown: `${change.action} skill ${change.name}${path}\n${diff}`,
    reasons,
    where: 'Talaria itself',
    frozen: mark,
    onceOnly: true,
  };
}

async function planOnly(
  deps: SkillManageDeps,
  change: SkillChange,
): Promise<Omit<MadeChange, 'kept'> | Extract<ToolOutcome, { kind: 'failed' }>> {
  let planned: Omit<MadeChange, 'kept'> | null = null;
  const { changeSkill } = await import('./change-skill.ts');
  try {
    await changeSkill(deps, change, (found) => {
      planned = found;
      return Promise.resolve(false);
    });
  } catch (error) {
    return failed(wordsFor(error));
  }
  return planned ?? failed('Nothing was changed.');
}

/** `mark` is the change that was approved; null if none had to be. */
async function make(deps: SkillManageDeps, change: SkillChange, mark: string | null): Promise<ToolOutcome> {
  const { changeSkill } = await import('./change-skill.ts');
  try {
    const made = await changeSkill(deps, change, (planned) => Promise.resolve(mark === null || planned.mark === mark));
    if (made === null) return failed('Not done: the skill has changed since this was approved. Ask for it again.');
    return { kind: 'finished', text: [doneText(change, made), made.diff].filter((part) => part !== '').join('\n\n') };
  } catch (error) {
    return failed(wordsFor(error));
  }
}

function doneText(change: SkillChange, { kept }: MadeChange): string {
  const { action, name } = change;
  const isWhole = action === 'remove' && change.path === null;
  const removed = isWhole ? 'Removed' : 'Removed a file of';
  const words = { create: 'Created', edit: 'Changed', patch: 'Changed', remove: removed, restore: 'Restored' };
  const way = kept === null ? '' : ` What was there before is version ${kept}; restore brings it back.`;
  return `${words[action]} the skill ${name}.${way} It shows in sessions that start later.`;
}

function toChange({ action, name, path, text, old, version }: Input): SkillChange | string {
  switch (action) {
    case 'create':
      return text === undefined ? '`text` is missing: the whole SKILL.md.' : { action, name, text };
    case 'edit':
      return text === undefined
        ? '`text` is missing: the whole file.'
        : { action, name, path: path ?? skillFileName, text };
    case 'patch':
      if (old === undefined || text === undefined) return 'patch needs `old`, the text to be replaced, and `text`.';
      return { action, name, path: path ?? skillFileName, old, text };
    case 'remove':
      return { action, name, path: path ?? null };
    case 'restore':
      return { action, name, version: version ?? null };
  }
}

function wordsFor(error: unknown): string {
  if (error instanceof SkillError) return `Nothing was changed: ${error.message}`;
  if (error instanceof Error && 'code' in error) return `Nothing was changed: ${fileProblem(error)}.`;
  throw error;
}

function failed(text: string): Extract<ToolOutcome, { kind: 'failed' }> {
  return { kind: 'failed', text };
}
