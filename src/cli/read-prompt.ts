/**
 * Puts a one-shot's prompt together from the command line and standard input, and refuses what can't be a message
 * before anything is opened: empty, binary or too large. Input beyond the limit is counted, never kept.
 */
import { fstatSync } from 'node:fs';
import { messageBytesMax } from '../protocol/api.ts';
import { CliError } from './command.ts';
import type { Streams } from './streams.ts';

/** Too much input is measured up to here, to name its size; after that it is only called "more than". */
const countedBytesMax = 64 * 1024 * 1024;
/** A program that starts us with a socket it never writes to or closes is not waited for, if there is a prompt. */
const socketPatienceMs = 100;
/** After this long without any input the user is told what we wait for. */
const waitingNoteMs = 3_000;

export async function readPrompt(
  streams: Pick<Streams, 'stdin' | 'stdinIsTty' | 'note'>,
  text: string | null,
  interrupt: AbortSignal,
): Promise<string> {
  const added = streams.stdinIsTty ? '' : await readStdin(streams, text !== null, interrupt);
  const asked = (text ?? '').toWellFormed();
  if (asked.includes('\0')) throw binaryInput();
  const prompt = asked.trim() === '' ? added : added.trim() === '' ? asked : `${asked}\n\n${added}`;
  if (prompt.trim() === '') {
    throw new CliError('wrongUsage', 'the prompt is empty; give one with -p TEXT or on standard input');
  }
  const bytes = Buffer.byteLength(prompt);
  if (bytes > messageBytesMax) throw tooLarge(bytes, '');
  return prompt;
}

async function readStdin(
  streams: Pick<Streams, 'stdin' | 'note'>,
  hasPrompt: boolean,
  interrupt: AbortSignal,
): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stdinChunks(streams, hasPrompt, interrupt)) {
    bytes += chunk.length;
    if (bytes <= messageBytesMax) chunks.push(chunk);
    else if (bytes > countedBytesMax) throw tooLarge(countedBytesMax, 'more than ');
  }
  if (bytes > messageBytesMax) throw tooLarge(bytes, '');
  return decode(Buffer.concat(chunks));
}

/** Standard input, if it is one to be waited for. */
async function* stdinChunks(
  { stdin, note }: Pick<Streams, 'stdin' | 'note'>,
  hasPrompt: boolean,
  interrupt: AbortSignal,
): AsyncGenerator<Buffer> {
  if (!isOpen(0)) return;
  const leave = () => stdin.destroy();
  interrupt.addEventListener('abort', leave, { once: true });
  const isOptional = hasPrompt && fstatSync(0).isSocket();
  const patience = isOptional
    ? setTimeout(leave, socketPatienceMs)
    : setTimeout(() => note('talaria: reading the prompt from standard input; end it with Ctrl-D'), waitingNoteMs);
  try {
    for await (const chunk of stdin) {
      clearTimeout(patience);
      yield typeof chunk === 'string' ? Buffer.from(chunk) : (chunk as Buffer);
    }
  } catch (error) {
    // Destroying the stream is how the waiting ends; any other failure is the input's own.
    if (!stdin.destroyed || !isPrematureClose(error)) throw unreadableInput(error);
  } finally {
    clearTimeout(patience);
    interrupt.removeEventListener('abort', leave);
  }
  interrupt.throwIfAborted();
}

/** A closed standard input (`<&-`) is no input. */
function isOpen(descriptor: number): boolean {
  try {
    fstatSync(descriptor);
    return true;
  } catch {
    return false;
  }
}

function isPrematureClose(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_STREAM_PREMATURE_CLOSE';
}

function unreadableInput(error: unknown): CliError {
  const detail = error instanceof Error ? error.message : String(error);
  return new CliError('failed', `standard input can't be read (${detail}); give the prompt with -p TEXT`, {
    cause: error,
  });
}

function decode(bytes: Buffer): string {
  if (bytes.includes(0)) throw binaryInput();
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw binaryInput();
  }
}

function binaryInput(): CliError {
  return new CliError(
    'wrongUsage',
    'the prompt is not UTF-8 text; put binary data into a file in the workspace and ask about that',
  );
}

function tooLarge(bytes: number, prefix: string): CliError {
  const size = `${prefix}${bytes.toLocaleString('en-US')} bytes`;
  const limit = messageBytesMax.toLocaleString('en-US');
  return new CliError(
    'wrongUsage',
    `the prompt has ${size}, the limit is ${limit}; put it into a file in the workspace and ask for that to be read`,
  );
}
