/**
 * The tool `clarify`: asks the person something and goes on with the answer. The turn waits meanwhile without holding
 * anything, over restarts too; channels with buttons show the choices as such.
 */
import * as z from 'zod/mini';
import type { Clock } from '../../lib/clock.ts';
import { defineTool } from '../define-tool.ts';
import type { Tool, ToolContext, ToolOutcome } from '../tool.ts';

export const clarifyWaitMs = 24 * 3_600_000;
const questionCharsMax = 2_000;
const choicesMax = 8;
const choiceCharsMax = 200;

const schema = z.strictObject({
  question: z.string().check(z.minLength(1), z.maxLength(questionCharsMax)),
  choices: z.optional(
    z.array(z.string().check(z.minLength(1), z.maxLength(choiceCharsMax))).check(z.maxLength(choicesMax)),
  ),
});

export function createClarifyTool({ clock }: { readonly clock: Clock }): Tool<z.output<typeof schema>> {
  return {
    ...defineTool({
      name: 'clarify',
      description: 'Asks the user and waits for the answer. Only for what you can not find out or decide.',
      effect: 'read',
      // It has done nothing until its question is stored, and then it waits instead of running.
      replay: 'safe',
      schema,
      run: async ({ question, choices = [] }, { isUnattended }: ToolContext): Promise<ToolOutcome> => {
        if (isUnattended) return { kind: 'failed', text: `${nobody} Decide by yourself, and say what you assumed.` };
        const distinct = [...new Set(choices)];
        return {
          kind: 'ask',
          text: question,
          choices: distinct.length === 0 ? null : distinct,
          deadline: clock.now() + clarifyWaitMs,
        };
      },
    }),
    answered: async (_input, answer) =>
      answer === null
        ? { kind: 'failed', text: 'Nobody answered within a day. Decide by yourself, and say what you assumed.' }
        : { kind: 'finished', text: `The user answered: ${answer}` },
  };
}

const nobody = 'Nobody is there to answer: a program began this turn.';
