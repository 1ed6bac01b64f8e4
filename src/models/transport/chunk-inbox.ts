/**
 * The bytes of an answer between the socket and its reader. Holds a bounded amount: past it the sender is asked to pause.
 * The reader is given what came before a failure, then the failure; a failure that is not to be waited for drops the rest.
 */
import type { ModelError } from '../model.ts';

export interface ChunkInbox {
  push(chunk: Uint8Array): void;
  end(): void;
  fail(error: ModelError, options: { readonly dropRest: boolean }): void;
  readonly chunks: AsyncIterable<Uint8Array>;
}

export interface ChunkInboxEvents {
  readonly onWaiting: () => void;
  readonly onResting: () => void;
  readonly onFull: () => void;
  readonly onRoom: () => void;
  /** The reader has gone before the end. */
  readonly onAbandoned: () => void;
}

const heldBytesMax = 1024 * 1024;

export function createChunkInbox(events: ChunkInboxEvents): ChunkInbox {
  const held: Uint8Array[] = [];
  let heldBytes = 0;
  let isPaused = false;
  let outcome: { readonly error: ModelError | null } | null = null;
  let wake: (() => void) | null = null;

  const settle = (error: ModelError | null) => {
    outcome ??= { error };
    wake?.();
  };
  const take = (): Uint8Array | undefined => {
    const chunk = held.shift();
    if (chunk === undefined) return undefined;
    heldBytes -= chunk.byteLength;
    if (isPaused && heldBytes === 0) {
      isPaused = false;
      events.onRoom();
    }
    return chunk;
  };
  // By hand instead of a generator: this is the innermost loop of every answer.
  const read = (): AsyncIterator<Uint8Array, undefined> => ({
    async next() {
      for (;;) {
        const chunk = take();
        if (chunk !== undefined) return { done: false, value: chunk };
        if (outcome?.error) throw outcome.error;
        if (outcome !== null) return { done: true, value: undefined };
        events.onWaiting();
        await new Promise<void>((resolve) => (wake = resolve));
        wake = null;
        events.onResting();
      }
    },
    return() {
      events.onAbandoned();
      return Promise.resolve({ done: true, value: undefined });
    },
  });

  return {
    push(chunk) {
      held.push(chunk);
      heldBytes += chunk.byteLength;
      if (heldBytes > heldBytesMax && !isPaused) {
        isPaused = true;
        events.onFull();
      }
      wake?.();
    },
    end: () => settle(null),
    fail(error, { dropRest }) {
      if (dropRest) held.length = 0;
      settle(error);
    },
    chunks: { [Symbol.asyncIterator]: read },
  };
}
