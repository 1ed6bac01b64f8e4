import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Question } from '../protocol/messages.ts';
import type { Gate, Plan } from './approval.ts';
import { fakeToolContext } from './fake-tool-context.ts';
import { afterAnswer, guardedTool, throughGate } from './gated.ts';
import type { Tool, ToolContext } from './tool.ts';

const plan: Plan = { kind: 'command', subject: 's', shown: 'x', reasons: ['r'], where: 'w', frozen: 'F' };
const question: Question = { text: 'May it?', choices: ['Once', 'No'], deadline: 1, isApproval: true, plan: 'P' };
const context = fakeToolContext('/tmp');
const fromWeb: ToolContext = { ...context, untrusted: 'web' };

/** Asks about everything; lets go what is answered with `Once`. */
function askingGate(): Gate & { readonly considered: Plan[] } {
  const considered: Plan[] = [];
  return {
    considered,
    async consider(one) {
      considered.push(one);
      return { kind: 'ask', question: { ...question, plan: one.frozen } };
    },
    settle: async ({ plan: frozen = '' }, answer) =>
      answer === 'Once' ? { kind: 'go', frozen } : { kind: 'refuse', text: 'no' },
  };
}

const echo: Tool<{ text: string }> = {
  definition: { name: 'memory', description: '', parameters: {} },
  effect: 'self',
  replay: 'never',
  parse: (input) => ({ ok: true, value: input as { text: string } }),
  run: async ({ text }) => ({ kind: 'finished', text }),
};

describe('through the gate', () => {
  test('what may go is done with the frozen plan, what may not fails, what asks asks', async () => {
    const gate = (answer: Awaited<ReturnType<Gate['consider']>>): Gate => ({
      ...askingGate(),
      consider: async () => answer,
    });
    const act = async (frozen: string) => ({ kind: 'finished', text: frozen }) as const;
    assert.deepEqual(await throughGate(gate({ kind: 'go' }), plan, context, act), { kind: 'finished', text: 'F' });
    assert.deepEqual(await throughGate(gate({ kind: 'refuse', text: 'no' }), plan, context, act), {
      kind: 'failed',
      text: 'no',
    });
    assert.deepEqual(await throughGate(gate({ kind: 'ask', question }), plan, context, act), {
      kind: 'ask',
      ...question,
    });
    assert.deepEqual(await afterAnswer(askingGate(), question, 'Once', context, act), { kind: 'finished', text: 'P' });
    assert.deepEqual(await afterAnswer(askingGate(), question, null, context, act), { kind: 'failed', text: 'no' });
  });
});

describe('a guarded tool', () => {
  const action = ({ text }: { text: string }) =>
    text === 'harmless' ? null : ({ kind: 'self', subject: 'memory', shown: text, reason: 'changes memory' } as const);

  test("asks only after a stranger's text, and only for what it guards", async () => {
    const gate = askingGate();
    const tool = guardedTool(echo, gate, action);
    assert.deepEqual(await tool.run({ text: 'x' }, context), { kind: 'finished', text: 'x' });
    assert.deepEqual(await tool.run({ text: 'harmless' }, fromWeb), { kind: 'finished', text: 'harmless' });
    assert.equal((await tool.run({ text: 'x' }, fromWeb)).kind, 'ask');
    assert.deepEqual(gate.considered, [
      {
        kind: 'self',
        subject: 'memory',
        shown: 'x',
        reasons: ['changes memory'],
        where: 'Talaria itself',
        frozen: '{"text":"x"}',
        onceOnly: true,
      },
    ]);
  });

  test('does after a yes exactly what was shown, or nothing', async () => {
    const tool = guardedTool(echo, askingGate(), action);
    const asked = await tool.run({ text: 'x' }, fromWeb);
    const asking = asked.kind === 'ask' ? asked : assert.fail();
    assert.deepEqual(await tool.answered?.({ text: 'x' }, 'Once', fromWeb, asking), { kind: 'finished', text: 'x' });
    assert.equal((await tool.answered?.({ text: 'y' }, 'Once', fromWeb, asking))?.kind, 'failed');
    assert.equal((await tool.answered?.({ text: 'x' }, 'No', fromWeb, asking))?.kind, 'failed');
  });
});
