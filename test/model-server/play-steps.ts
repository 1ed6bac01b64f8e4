/** Sends what is to be sent, step by step. Ends when the steps do, or when the client leaves. */
import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Step } from './faults/fault.ts';

export type PlayEnd = 'whole' | 'broken-off' | 'client-left';

export async function playSteps(steps: readonly Step[], outgoing: ServerResponse, gone: AbortSignal): Promise<PlayEnd> {
  for (const step of steps) {
    if (gone.aborted) return 'client-left';
    switch (step.kind) {
      case 'head':
        outgoing.writeHead(step.status, step.headers);
        outgoing.flushHeaders();
        break;
      case 'bytes':
        await written(outgoing, step.bytes, gone);
        break;
      case 'wait':
        await sleep(step.ms, undefined, { signal: gone }).catch(() => {});
        break;
      case 'end':
        await new Promise<void>((resolve) => outgoing.end(resolve));
        return 'whole';
      case 'cut':
        outgoing.socket?.destroy();
        return 'broken-off';
      case 'reset':
        outgoing.socket?.resetAndDestroy();
        return 'broken-off';
      case 'hang':
        await left(gone);
        return 'broken-off';
    }
  }
  return gone.aborted ? 'client-left' : 'whole';
}

/** Handed to the system, so that what follows can't overtake it. */
function written(outgoing: ServerResponse, bytes: string | Uint8Array, gone: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      gone.removeEventListener('abort', done);
      resolve();
    };
    gone.addEventListener('abort', done, { once: true });
    outgoing.write(bytes, done);
  });
}

function left(gone: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (gone.aborted) resolve();
    else gone.addEventListener('abort', () => resolve(), { once: true });
  });
}
