/** The whole family at work in a home of its own, for tests: a person who is asked, and calls by name. */
import { mkdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { FakeClock } from '../../lib/fake-clock.ts';
import { countingIdSource } from '../../lib/ids.ts';
import type { SessionId } from '../../protocol/ids.ts';
import type { Question } from '../../protocol/messages.ts';
import type { Gate, Plan } from '../approval.ts';
import { fakeToolContext, temporaryFolder } from '../fake-tool-context.ts';
import type { Tool, ToolContext, ToolOutcome } from '../tool.ts';
import { createFileTools, type FileTools, type FileToolsDeps } from './file-tools.ts';

export interface FileDesk {
  /** Holds the home and whatever a test puts beside it. */
  readonly top: string;
  readonly home: string;
  readonly workspace: string;
  readonly clock: FakeClock;
  readonly files: FileTools;
  /** What was put before the gate. */
  readonly plans: Plan[];
  readonly sessionId: SessionId;
  tool(name: string): Tool;
  context(change?: Partial<ToolContext>): ToolContext;
  /** Checks the arguments and runs; the same session each time, a new call. */
  use(name: string, input: unknown, change?: Partial<ToolContext>): Promise<ToolOutcome>;
}

/** `gate`: null asks nobody; `asks` turns every plan into a question. */
export async function openFileDesk(
  t: { after(callback: () => Promise<void>): void },
  options: Partial<Omit<FileToolsDeps, 'gate'>> & { readonly gate?: 'asks' | 'goes' | null } = {},
): Promise<FileDesk> {
  const top = await realpath(await temporaryFolder(t));
  const home = join(top, 'home');
  const workspace = join(home, 'workspace');
  await mkdir(workspace, { recursive: true });
  const clock = new FakeClock();
  const plans: Plan[] = [];
  const kind = options.gate ?? null;
  const files = createFileTools({
    home,
    clock,
    roots: () => [],
    checkpointDays: () => 14,
    ...options,
    gate: kind === null ? null : fakeGate(kind, plans),
  });
  const ids = countingIdSource();
  const sessionId = ids.next('ses');
  const context = (change: Partial<ToolContext> = {}): ToolContext => ({
    ...fakeToolContext(workspace),
    sessionId,
    callId: ids.next('cal'),
    spoolFolder: join(home, 'spool', sessionId),
    ...change,
  });
  const tool = (name: string): Tool => {
    const found = files.tools.find(({ definition }) => definition.name === name);
    if (found === undefined) throw new Error(`no tool ${name}`);
    return found;
  };
  return {
    top,
    home,
    workspace,
    clock,
    files,
    plans,
    sessionId,
    tool,
    context,
    async use(name, input, change) {
      const parsed = tool(name).parse(input);
      if (!parsed.ok) return { kind: 'failed', text: parsed.problem };
      return tool(name).run(parsed.value, context(change));
    },
  };
}

function fakeGate(kind: 'asks' | 'goes', plans: Plan[]): Gate {
  return {
    consider: (plan, { isUnattended }) => {
      plans.push(plan);
      if (isUnattended) return Promise.resolve({ kind: 'refuse', text: 'Nobody is there to ask.' });
      if (kind === 'goes') return Promise.resolve({ kind: 'go' });
      const question: Question = {
        text: plan.shown,
        choices: ['once', 'no'],
        deadline: 1,
        isApproval: true,
        plan: plan.frozen,
      };
      return Promise.resolve({ kind: 'ask', question });
    },
    settle: (asked, answer) =>
      Promise.resolve(
        answer === 'once' ? { kind: 'go', frozen: asked.plan ?? '' } : { kind: 'refuse', text: 'It was not allowed.' },
      ),
  };
}
