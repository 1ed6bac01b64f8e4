/** A tool that asks a person first and then does something to the world, once. */
import { appendFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Tool } from '../../src/tools/tool.ts';

const patienceMs = 60_000;
const takesMs = 50;

export const askToolName = 'ask_first';

/** `ledgerPipe` is where its effect goes. */
export function createAskTool(ledgerPipe: string): Tool {
  return {
    definition: {
      name: askToolName,
      description: 'Asks a person, and then does it.',
      parameters: {
        type: 'object',
        properties: { what: { type: 'string' } },
        required: ['what'],
        additionalProperties: false,
      },
    },
    effect: 'write',
    replay: 'never',
    parse: (input) =>
      whatOf(input) === null ? { ok: false, problem: 'what: is missing' } : { ok: true, value: input },
    run: (input) =>
      Promise.resolve({
        kind: 'ask',
        text: `Shall I: ${whatOf(input) ?? ''}?`,
        choices: ['yes', 'no'],
        deadline: Date.now() + patienceMs,
      }),
    async answered(input, answer) {
      const id = /effect (\S+) /.exec(whatOf(input) ?? '')?.[1];
      if (answer !== 'yes' || id === undefined) return { kind: 'failed', text: 'They said no.' };
      await appendFile(ledgerPipe, `${id}\n`);
      // Time to die in, between the deed and the word of it.
      await sleep(takesMs);
      return { kind: 'finished', text: 'They said yes, and it is done.' };
    },
  };
}

function whatOf(input: unknown): string | null {
  return typeof input === 'object' && input !== null && 'what' in input && typeof input.what === 'string'
    ? input.what
    : null;
}
