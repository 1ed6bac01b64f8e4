/** Asks a yes-or-no question on the terminal. The question goes to stderr, so that stdout stays the result's alone. */
import type { CommandContext } from './command.ts';

/** Anything but a clear yes is a no; so is the end of the input. Throws if interrupted. */
export async function confirm({ streams, interrupt }: CommandContext, question: string): Promise<boolean> {
  const { createInterface } = await import('node:readline');
  const lines = createInterface({ input: streams.stdin, output: process.stderr });
  try {
    return await new Promise<boolean>((resolve, reject) => {
      const onAbort = () => reject(interrupt.reason as Error);
      interrupt.addEventListener('abort', onAbort, { once: true });
      lines.on('close', () => resolve(false));
      lines.question(`${question} [y/N] `, (answer) => resolve(/^y(es)?$/i.test(answer.trim())));
    });
  } finally {
    lines.close();
  }
}
