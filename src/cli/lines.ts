/** Cuts a stream of bytes into lines of UTF-8 text, without their line ends. A line longer than the limit is refused. */
import { CliError } from './command.ts';

const lineCharsMax = 64 * 1024 * 1024;

export async function* toLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let rest = '';
  for await (const chunk of chunks) {
    const text = decode(decoder, chunk, true);
    rest += text;
    if (rest.length > lineCharsMax) throw new CliError('failed', `a line is longer than ${lineCharsMax} characters`);
    // Looking only at what is new keeps one long line from being searched again with every piece of it.
    if (!text.includes('\n')) continue;
    const lines = rest.split('\n');
    rest = lines.pop() ?? '';
    yield* lines.map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line));
  }
  rest += decode(decoder, new Uint8Array(), false);
  if (rest !== '') yield rest;
}

function decode(decoder: TextDecoder, chunk: Uint8Array, stream: boolean): string {
  try {
    return decoder.decode(chunk, { stream });
  } catch {
    throw new CliError(
      'failed',
      'the file is not UTF-8 text; it can not be a session written by talaria sessions export',
    );
  }
}
