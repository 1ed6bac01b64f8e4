/**
 * Writes a response at the pace of its client and gives up on one that stops taking it. No more than a piece of it is
 * ever buffered, however large the body and however slow the client.
 */
import type { ServerResponse } from 'node:http';
import type { HttpResponse } from './http-message.ts';

const pieceBytes = 65_536;

export interface WriteControl {
  readonly signal: AbortSignal;
  readonly stalledMs: number;
  readonly isHead: boolean;
}

/** False if it did not get to its end; then the connection is of no use any more. The response is not ended here. */
export async function writeBody(
  outgoing: ServerResponse,
  response: HttpResponse,
  control: WriteControl,
): Promise<boolean> {
  const { body } = response;
  if (body === undefined || control.isHead) return true;
  if (typeof body === 'string' || body instanceof Uint8Array) return writeChunk(outgoing, body, control);
  for await (const chunk of body) {
    if (control.signal.aborted || !(await writeChunk(outgoing, chunk, control))) return false;
  }
  return !control.signal.aborted;
}

/** Only a body that is there as a whole has a length to tell beforehand. */
export function lengthOf(body: HttpResponse['body']): Record<string, number> {
  return typeof body === 'string' || body instanceof Uint8Array ? { 'content-length': Buffer.byteLength(body) } : {};
}

/** Resolves once the system has taken all of it, or nobody will. What is still to be sent must be taken in time too. */
export function endInTime(outgoing: ServerResponse, stalledMs: number): Promise<void> {
  return new Promise((resolve) => {
    if (outgoing.closed) return resolve();
    const cut = setTimeout(() => outgoing.destroy(), stalledMs);
    outgoing.once('close', () => {
      clearTimeout(cut);
      resolve();
    });
    outgoing.end();
  });
}

async function writeChunk(
  outgoing: ServerResponse,
  chunk: string | Uint8Array,
  { signal, stalledMs }: WriteControl,
): Promise<boolean> {
  const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
  for (let start = 0; start < bytes.byteLength; start += pieceBytes) {
    const piece = bytes.subarray(start, start + pieceBytes);
    if (!outgoing.write(piece) && !(await drained(outgoing, signal, stalledMs))) return false;
  }
  return true;
}

function drained(outgoing: ServerResponse, signal: AbortSignal, stalledMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    if (signal.aborted || outgoing.destroyed) return resolve(false);
    const settle = (isDrained: boolean) => () => {
      clearTimeout(stalled);
      outgoing.off('drain', onDrain);
      signal.removeEventListener('abort', onAbort);
      resolve(isDrained);
    };
    const onDrain = settle(true);
    const onAbort = settle(false);
    const stalled = setTimeout(onAbort, stalledMs);
    outgoing.once('drain', onDrain);
    signal.addEventListener('abort', onAbort, { once: true });
  });
}
