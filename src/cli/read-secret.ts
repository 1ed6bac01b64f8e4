/** Reads a secret: typed on the terminal without being shown, or the first line of standard input. */
import { PassThrough } from 'node:stream';
import { CliError, Interrupted, type CommandContext } from './command.ts';

const secretCharsMax = 16_384;

/** Throws if interrupted or empty. */
export async function askSecret({ streams, interrupt }: CommandContext, question: string): Promise<string> {
  const { createInterface } = await import('node:readline');
  // What is typed is echoed to the output that readline is given: this one nobody sees.
  const unseen = new PassThrough();
  unseen.resume();
  const lines = createInterface({ input: streams.stdin, output: unseen, terminal: true });
  process.stderr.write(question);
  try {
    return checked(
      await new Promise<string>((resolve, reject) => {
        interrupt.addEventListener('abort', () => reject(interrupt.reason as Error), { once: true });
        lines.on('SIGINT', () => reject(new Interrupted()));
        lines.on('close', () => resolve(''));
        lines.on('line', resolve);
      }),
    );
  } finally {
    lines.close();
    process.stderr.write('\n');
  }
}

export async function readSecretLine({ streams, interrupt }: CommandContext): Promise<string> {
  let text = '';
  const leave = () => streams.stdin.destroy();
  interrupt.addEventListener('abort', leave, { once: true });
  try {
    for await (const chunk of streams.stdin) {
      text += typeof chunk === 'string' ? chunk : (chunk as Buffer).toString('utf8');
      if (text.includes('\n') || text.length > secretCharsMax) break;
    }
  } catch (error) {
    if (!interrupt.aborted) throw error;
  } finally {
    interrupt.removeEventListener('abort', leave);
  }
  interrupt.throwIfAborted();
  return checked(text.split('\n', 1)[0] ?? '');
}

function checked(typed: string): string {
  const secret = typed.trim();
  if (secret === '') throw new CliError('failed', 'no key was given; nothing was changed');
  if (secret.length > secretCharsMax || !/^[\x21-\x7e]+$/.test(secret)) {
    throw new CliError(
      'failed',
      'that is no key: it has spaces or characters that keys do not have; nothing was changed',
    );
  }
  return secret;
}
