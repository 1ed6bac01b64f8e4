/**
 * Whether the process is short of memory: its objects near what the engine allows, or all of it near what the machine or
 * its container has. Agents keep no transcript, so their number says little about bytes; this does.
 */
import { totalmem } from 'node:os';

/** Beyond these shares the engine collects garbage all the time, or the system looks for somebody to kill. */
const heapShareMax = 0.8;
const machineShareMax = 0.8;
/** Part of the engine's limit, but only for objects that are young: the others must do without. */
const youngBytes = 96 * 2 ** 20;

export interface MemoryFigures {
  readonly heapUsedBytes: number;
  /** What there is for objects that stay. */
  readonly heapLimitBytes: number;
  readonly rssBytes: number;
  /** What there is for all of it: the machine's, or less if the process is kept within bounds. */
  readonly machineBytes: number;
}

export function isMemoryShort({ heapUsedBytes, heapLimitBytes, rssBytes, machineBytes }: MemoryFigures): boolean {
  return heapUsedBytes > heapShareMax * heapLimitBytes || rssBytes > machineShareMax * machineBytes;
}

export function readMemoryFigures(): MemoryFigures {
  const heap = process.getBuiltinModule('node:v8').getHeapStatistics();
  // Without bounds it is 0, or more than any machine has.
  const constrained = process.constrainedMemory() || Infinity;
  return {
    heapUsedBytes: heap.used_heap_size,
    heapLimitBytes: Math.max(heap.heap_size_limit - youngBytes, heap.heap_size_limit / 2),
    rssBytes: process.memoryUsage.rss(),
    machineBytes: Math.min(totalmem(), constrained),
  };
}
