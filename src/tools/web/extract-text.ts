/** Readable text of a document, made in a thread with limits of its own (see `extract-thread.ts`). */
import { Worker } from 'node:worker_threads';
import type { Extracted, ExtractJob } from './extract-thread.ts';

const extractMs = 20_000;
const memoryBytesMax = 512_000_000;
const lookEveryMs = 50;
/**
 * Never reached: a thread that meets its own limit can take the whole process with it, and what is unpacked lies outside
 * of it. So the thread is looked at from here, and ended in time.
 */
const heapMbMax = 4_096;

export type ExtractResult =
  | { readonly kind: 'extracted'; readonly extracted: Extracted }
  /** A clause for people: why not. */
  | { readonly kind: 'unreadable'; readonly problem: string };

type Answer = { readonly ok: true; readonly extracted: Extracted } | { readonly ok: false; readonly problem: string };

/** Throws only if the signal aborts. */
export async function extractText(job: ExtractJob, signal: AbortSignal): Promise<ExtractResult> {
  signal.throwIfAborted();
  const worker = new Worker(threadFile(), {
    workerData: job,
    execArgv: [],
    name: 'web page',
    env: {},
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: heapMbMax },
  });
  const { promise, resolve, reject } = Promise.withResolvers<ExtractResult>();
  const unreadable = (problem: string) => resolve({ kind: 'unreadable', problem });
  worker.once('message', (answer: Answer) =>
    answer.ok ? resolve({ kind: 'extracted', extracted: answer.extracted }) : unreadable(answer.problem),
  );
  worker.once('error', (error) => unreadable(error instanceof Error ? error.message : String(error)));
  worker.once('exit', () => unreadable('it could not be read'));
  const timer = setTimeout(() => unreadable(`reading it took longer than ${extractMs / 1000} s`), extractMs);
  const watch = setInterval(() => {
    worker.getHeapStatistics().then(
      ({ used_heap_size: used, external_memory: unpacked }) => {
        if (used + unpacked > memoryBytesMax) unreadable(`reading it takes more than ${memoryBytesMax / 1e6} MB`);
      },
      // It has ended.
      () => {},
    );
  }, lookEveryMs);
  const abort = () => reject(signal.reason as Error);
  signal.addEventListener('abort', abort, { once: true });
  return promise.finally(() => {
    clearTimeout(timer);
    clearInterval(watch);
    signal.removeEventListener('abort', abort);
    void worker.terminate();
  });
}

/** Beside this file; in the bundle it has a name of its own. */
function threadFile(): URL {
  const source = import.meta.url.endsWith('.ts');
  return new URL(source ? './extract-thread.ts' : './web-extract.js', import.meta.url);
}
