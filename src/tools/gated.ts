/**
 * How a tool goes through the gate, in one line each for `run` and `answered`; and a wrapping for tools that send something
 * out or change Talaria itself, which ask only in a turn that has read a stranger's text.
 */
import type { Question } from '../protocol/messages.ts';
import type { Gate, Plan } from './approval.ts';
import type { Tool, ToolContext, ToolOutcome } from './tool.ts';

/** For `run`: does it now, or says why not, or asks. */
export async function throughGate(
  gate: Gate,
  plan: Plan,
  context: ToolContext,
  act: (frozen: string) => Promise<ToolOutcome>,
): Promise<ToolOutcome> {
  const answer = await gate.consider(plan, context);
  switch (answer.kind) {
    case 'go':
      return act(plan.frozen);
    case 'refuse':
      return { kind: 'failed', text: answer.text };
    case 'ask':
      return { kind: 'ask', ...answer.question };
  }
}

/** For `answered`: exactly what was asked about, or not at all. */
export async function afterAnswer(
  gate: Gate,
  asked: Question,
  answer: string | null,
  context: ToolContext,
  act: (frozen: string) => Promise<ToolOutcome>,
): Promise<ToolOutcome> {
  const settled = await gate.settle(asked, answer, context);
  return settled.kind === 'go' ? act(settled.frozen) : { kind: 'failed', text: settled.text };
}

/** What a call would send or change; null for one that does neither. */
export type GuardedAction<Arguments> = (
  input: Arguments,
  context: ToolContext,
) => {
  readonly kind: 'send' | 'self';
  /** To whom, or what of Talaria: equal ones are the same permission. */
  readonly subject: string;
  /** What exactly, whole. */
  readonly shown: string;
  /** A clause: "sends to example.com", "changes what Talaria remembers". */
  readonly reason: string;
} | null;

/** The same tool, asking first where a stranger's text may have given it the idea. */
export function guardedTool<Arguments>(
  tool: Tool<Arguments>,
  gate: Gate,
  actionOf: GuardedAction<Arguments>,
): Tool<Arguments> {
  return {
    ...tool,
    async run(input, context) {
      const action = context.untrusted === null ? null : actionOf(input, context);
      if (action === null) return tool.run(input, context);
      const { kind, subject, shown, reason } = action;
      const plan: Plan = {
        kind,
        subject,
        shown,
        reasons: [reason],
        where: kind === 'send' ? 'outside this machine' : 'Talaria itself',
        frozen: JSON.stringify(input),
        onceOnly: true,
      };
      return throughGate(gate, plan, context, () => tool.run(input, context));
    },
    async answered(input, answer, context, asked) {
      // A question of the tool's own.
      if (asked.isApproval !== true && tool.answered !== undefined) return tool.answered(input, answer, context, asked);
      return afterAnswer(gate, asked, answer, context, async (frozen) => {
        if (frozen === JSON.stringify(input)) return tool.run(input, context);
        return { kind: 'failed', text: 'Not done: this is not what was approved. Ask for it again.' };
      });
    },
  };
}
