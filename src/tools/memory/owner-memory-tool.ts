/**
 * The tool `memory`: keeps facts between sessions, in the files of whoever the session belongs to. It says exactly what it
 * stored, replaced, removed and moved to the archive. In a turn that has read a stranger's text, for a fact that was in one
 * before or reads like an order, and wherever the operator wants it, a person is asked first; what comes from a stranger's
 * text is marked so.
 *
 * A call whose outcome got lost is told as unknown. Adding the same fact again stores it once.
 */
import * as z from 'zod/mini';
import type { SessionId } from '../../protocol/ids.ts';
import type { UntrustedSource } from '../../protocol/messages.ts';
import type { Gate, Plan } from '../approval.ts';
import { defineTool } from '../define-tool.ts';
import { afterAnswer, throughGate } from '../gated.ts';
import type { Tool, ToolOutcome } from '../tool.ts';
import { fileProblem } from '../workspace-path.ts';
import { cleanEntry } from './clean-entry.ts';
import {
  changeMemory,
  MemoryFileError,
  memoryLimits,
  searchMemories,
  type MemoryChange,
  type MemoryLimits,
} from './memory-files.ts';
import { memoryFileNames, memoryFolder } from './memory-places.ts';
import { changeText, plannedText } from './memory-words.ts';
import { originOfFact, type Saying } from './origin-of-fact.ts';

/** Of what a search finds. */
const hitsMax = 50;

export interface OwnerMemoryDeps {
  readonly home: string;
  /** Whose memory the session has (see `memoryOwnerOf`); null if it is gone. */
  readonly ownerOf: (sessionId: SessionId) => Promise<string | null>;
  readonly gate: Gate;
  /** `memory.write_approval`: every change asks first. */
  readonly asksAlways: () => boolean;
  /** Whether a value that is known to be secret stands in it. */
  readonly holdsSecret?: (text: string) => boolean;
  /** What was said in a session of late, also by strangers. */
  readonly said?: (sessionId: SessionId) => Promise<readonly Saying[]>;
  readonly limits?: MemoryLimits;
}

const schema = z.strictObject({
  action: z.enum(['add', 'replace', 'remove', 'search']),
  target: z.optional(z.enum(['memory', 'user'])),
  text: z.optional(z.string()),
  old: z.optional(z.string().check(z.describe('The entry, or a part of it'))),
});

type Input = z.output<typeof schema>;

/** What is done after a yes, exactly. */
interface Frozen {
  readonly owner: string;
  readonly change: MemoryChange;
  readonly hadUnseen: boolean;
}

type Planned = Frozen & { readonly isOrder: boolean };

export function createOwnerMemoryTool(deps: OwnerMemoryDeps): Tool<Input> {
  const { home, ownerOf, gate, limits = memoryLimits } = deps;
  const oneByOne = createTurnstile();
  const perform = ({ owner, change, hadUnseen }: Frozen): Promise<ToolOutcome> =>
    oneByOne(owner, async () => {
      const file = memoryFileNames[change.target];
      try {
        const outcome = await changeMemory(memoryFolder(home, owner), change, limits);
        return changeText(outcome, change, { file, hadUnseen });
      } catch (error) {
        const why =
          error instanceof MemoryFileError ? error.message : `${file} can't be changed: ${fileProblem(error)}`;
        return failed(`Nothing was changed: ${why}.`);
      }
    });

  const tool = defineTool({
    name: 'memory',
    description:
      'Keeps lasting facts for later sessions, one line each: preferences, decisions. target user: about the person. ' +
      'No secrets.',
    effect: 'write',
    replay: 'never',
    schema,
    sideBySide: ({ action }) => (action === 'search' ? 'any' : ['memory']),
    async run(input, context) {
      const owner = await ownerOf(context.sessionId);
      if (owner === null) return failed('Nothing was done: this conversation has been removed.');
      if (input.action === 'search') return search(memoryFolder(home, owner), input.text ?? input.old ?? '');
      const untrusted = context.untrusted ?? (await originOf(deps, input, context.sessionId));
      const planned = planChange(deps, owner, input, untrusted);
      if ('problem' in planned) return failed(planned.problem);
      const reasons = reasonsToAsk(deps, planned, untrusted);
      if (reasons.length === 0) return perform(planned);
      const plan = planOf(planned, reasons);
      return throughGate(gate, plan, { ...context, untrusted }, (frozen) => perform(JSON.parse(frozen) as Frozen));
    },
  });
  return {
    ...tool,
    answered: (_input, answer, context, asked) =>
      afterAnswer(gate, asked, answer, context, (frozen) => perform(JSON.parse(frozen) as Frozen)),
  };
}

function planChange(
  { holdsSecret = () => false }: OwnerMemoryDeps,
  owner: string,
  { action, target = 'memory', text, old }: Input,
  untrusted: UntrustedSource | null,
): Planned | { readonly problem: string } {
  const which = (old ?? '')
    .replaceAll(/\s+/gu, ' ')
    .trim()
    .replace(/^[-*+] /, '');
  if (action === 'remove') {
    const wanted = which === '' ? (text ?? '').trim().replace(/^[-*+] /, '') : which;
    if (wanted === '') return { problem: 'Nothing was removed: say in `old` which entry.' };
    return { owner, change: { action, target, old: wanted }, hadUnseen: false, isOrder: false };
  }
  if (action === 'replace' && which === '') return { problem: 'Nothing was replaced: say in `old` which entry.' };
  const cleaned = cleanEntry(text ?? '');
  if (cleaned.kind === 'refused') return { problem: `Nothing was stored: ${cleaned.why}.` };
  if (holdsSecret(cleaned.text)) return { problem: 'Nothing was stored: a secret stands in it. Leave it out.' };
  const entry = untrusted === null ? cleaned.text : `${cleaned.text} (from ${untrusted})`;
  const change: MemoryChange =
    action === 'replace' ? { action, target, old: which, entry } : { action: 'add', target, entry };
  return { owner, change, hadUnseen: cleaned.hadUnseen, isOrder: cleaned.isOrder };
}

/** What was read in an earlier turn may be remembered in this one. */
async function originOf(
  { said }: OwnerMemoryDeps,
  { text = '' }: Input,
  sessionId: SessionId,
): Promise<UntrustedSource | null> {
  return said === undefined || text === '' ? null : originOfFact(text, await said(sessionId));
}

function reasonsToAsk(deps: OwnerMemoryDeps, { isOrder }: Planned, untrusted: UntrustedSource | null): string[] {
  return [
    ...(untrusted === null ? [] : ['changes what is remembered in later sessions']),
    ...(isOrder ? ['reads like an order to the agent, and would stand in later sessions'] : []),
    ...(deps.asksAlways() ? ['every change of what is remembered is asked about (memory.write_approval)'] : []),
  ];
}

function planOf({ isOrder, ...frozen }: Planned, reasons: readonly string[]): Plan {
  return {
    kind: 'self',
    subject: `memory of ${frozen.owner}`,
    shown: plannedText(frozen.change, memoryFileNames[frozen.change.target]),
    reasons,
    where: 'Talaria itself',
    frozen: JSON.stringify(frozen),
    // A lasting yes is for the ordinary facts that an operator wants to see first, not for these.
    ...(isOrder ? { onceOnly: true } : {}),
  };
}

async function search(folder: string, query: string): Promise<ToolOutcome> {
  try {
    const hits = await searchMemories(folder, query);
    if (hits.length === 0) return { kind: 'finished', text: 'Nothing is remembered about that.' };
    const lines = hits.slice(0, hitsMax).map(({ file, text }) => `${file}: ${text}`);
    const more = hits.length > hitsMax ? [`… and ${hits.length - hitsMax} more; say more words.`] : [];
    const source = hits.map(({ text }) => /\(from (web|mcp|webhook|stranger)\)$/u.exec(text)?.[1]).find(Boolean);
    return {
      kind: 'finished',
      text: [...lines, ...more].join('\n'),
      ...(source === undefined ? {} : { untrusted: source as UntrustedSource }),
    };
  } catch (error) {
    return failed(`The memory can't be read: ${fileProblem(error)}.`);
  }
}

/** Two changes that read the same file would lose one of them. */
function createTurnstile(): (name: string, work: () => Promise<ToolOutcome>) => Promise<ToolOutcome> {
  const last = new Map<string, Promise<unknown>>();
  return async (name, work) => {
    const turn = (last.get(name) ?? Promise.resolve()).then(work);
    last.set(name, turn);
    try {
      return await turn;
    } finally {
      if (last.get(name) === turn) last.delete(name);
    }
  };
}

function failed(text: string): ToolOutcome {
  return { kind: 'failed', text };
}
