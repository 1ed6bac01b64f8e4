/**
 * The tool `terminal`: a command in the session's shell, and what it printed. Decides, with the gate, whether it may run:
 * inside the sandbox nothing asks but what a look at the command finds; what leaves it (another host, no sandbox at all)
 * asks, and so does everything where there is no sandbox. How it runs is the matter of `run-command.ts`.
 */
import type { Question } from '../../protocol/messages.ts';
import { defineTool } from '../define-tool.ts';
import type { Sandbox } from '../sandbox.ts';
import { SandboxError } from '../sandbox.ts';
import type { Tool, ToolContext, ToolOutcome } from '../tool.ts';
import type { RunDeps } from './begin-command.ts';
import { planOf, whereOf, wishOf, type CommandWish } from './command-wish.ts';
import { foldersOfCommand } from './folders-of-command.ts';
import { runCommand, takeUp, type IfLost } from './run-command.ts';
import { createSessionHosts } from './session-host.ts';
import { noSandbox, type TerminalDeps } from './terminal-deps.ts';
import { terminalDescription, terminalSchema, type TerminalInput } from './terminal-schema.ts';

export function createTerminal(given: TerminalDeps): Tool<TerminalInput> {
  const deps: RunDeps = { ...given, hosts: createSessionHosts(given.clock) };
  const tool = defineTool({
    name: 'terminal',
    description: terminalDescription,
    effect: 'write',
    replay: 'attach',
    schema: terminalSchema,
    run: (input, context) => considered(deps, input, context, 'failed'),
    attach: (input, context, settled) =>
      takeUp(deps, context, () =>
        settled === undefined
          ? considered(deps, input, context, 'unknown')
          : approved(deps, input, settled.answer, context, settled.asked),
      ),
    sideBySide: () => 'alone',
    worksOn: foldersOfCommand,
  });
  return {
    ...tool,
    answered: (input, answer, context, asked) =>
      takeUp(deps, context, () => approved(deps, input, answer, context, asked)),
  };
}

/** Without a sandbox and without asking: for tests of what is beside the point. */
export function createTerminalTool(
  deps: Pick<TerminalDeps, 'clock' | 'env' | 'defaultTimeoutMs'>,
): Tool<TerminalInput> {
  return createTerminal({
    envNames: [],
    folders: [],
    readable: [],
    hidden: [],
    sandbox: () => Promise.resolve(noSandbox),
    allowedHosts: [],
    network: () => Promise.resolve('off'),
    gate: {
      consider: () => Promise.resolve({ kind: 'go' }),
      settle: () => Promise.resolve({ kind: 'refuse', text: 'Nothing was asked.' }),
    },
    judge: () => ({ kind: 'plain' }),
    filesOf: () => [],
    onBackground: () => {},
    ...deps,
  });
}

async function considered(
  deps: RunDeps,
  input: TerminalInput,
  context: ToolContext,
  ifLost: IfLost,
): Promise<ToolOutcome> {
  const found = await wishOf(deps, input, context);
  if (found.kind === 'refused') return failed(found.problem);
  const { wish } = found;
  const sandbox = await sandboxOf(deps);
  if (sandbox.kind === 'failed') return sandbox;
  const judged = await reasonsFor(deps, wish, sandbox.sandbox, context);
  if (judged.kind === 'refused') {
    return failed(`The command was refused: ${judged.reason}. No approval makes it run; do it another way.`);
  }
  if (judged.reasons.length === 0) return runCommand(deps, wish, context, ifLost);
  const answer = await deps.gate.consider(await planOf(deps, wish, sandbox.sandbox, judged.reasons, context), context);
  switch (answer.kind) {
    case 'go':
      return runCommand(deps, wish, context, ifLost);
    case 'refuse':
      return failed(answer.text);
    case 'ask':
      return { kind: 'ask', ...answer.question };
  }
}

async function approved(
  deps: RunDeps,
  input: TerminalInput,
  answer: string | null,
  context: ToolContext,
  asked: Question,
): Promise<ToolOutcome> {
  const settled = await deps.gate.settle(asked, answer, context);
  if (settled.kind === 'refuse') return failed(settled.text);
  const found = await wishOf(deps, input, context);
  if (found.kind === 'refused') return failed(found.problem);
  const sandbox = await sandboxOf(deps);
  if (sandbox.kind === 'failed') return sandbox;
  const { frozen } = await planOf(deps, found.wish, sandbox.sandbox, [], context);
  if (frozen !== settled.frozen) {
    return failed(
      'The command was not run: something that it depends on (its folder, a script, the variables of the shell) ' +
        'changed after it was approved. Call it again to ask again.',
    );
  }
  return runCommand(deps, found.wish, context, 'failed');
}

/** Why somebody has to be asked; nothing if nobody has to. */
async function reasonsFor(
  deps: TerminalDeps,
  wish: CommandWish,
  sandbox: Sandbox,
  context: ToolContext,
): Promise<{ kind: 'judged'; reasons: string[] } | { kind: 'refused'; reason: string }> {
  const judgement = await deps.judge(wish.command, await whereOf(wish, sandbox, context));
  if (judgement.kind === 'refused') return judgement;
  const reasons = judgement.kind === 'asks' ? [...judgement.reasons] : [];
  // Whatever the judge thinks of it: without a sandbox everything asks.
  if (reasons.length === 0 && (wish.isOutside || sandbox.level === 'none')) reasons.push('runs outside any sandbox');
  if (wish.hosts.length > 0) reasons.push(`reaches ${wish.hosts.join(', ')}`);
  const canSend = !wish.isOutside && deps.allowedHosts.length > 0;
  if (context.untrusted !== null && canSend) {
    reasons.push(`can send data to ${deps.allowedHosts.join(', ')}, and this turn has read what a stranger wrote`);
  }
  return { kind: 'judged', reasons };
}

async function sandboxOf(
  deps: TerminalDeps,
): Promise<{ readonly kind: 'sandbox'; readonly sandbox: Sandbox } | Extract<ToolOutcome, { kind: 'failed' }>> {
  try {
    return { kind: 'sandbox', sandbox: await deps.sandbox() };
  } catch (error) {
    if (!(error instanceof SandboxError)) throw error;
    return failed(`The command was not started: ${error.message}`);
  }
}

function failed(text: string): Extract<ToolOutcome, { kind: 'failed' }> {
  return { kind: 'failed', text };
}
