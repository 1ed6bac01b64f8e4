/**
 * For tests: a process that takes a home, says in one line of JSON how that went, and keeps it until it is ended.
 *
 *   node fake-home-holder.ts HOME
 */
import { StoreError } from '../store.ts';
import { acquireHomeLock, type HomeLockResult } from './home-lock.ts';

const [home] = process.argv.slice(2);
if (home === undefined) throw new Error('usage: HOME');

function take(path: string): HomeLockResult | { kind: 'failed'; reason: string } {
  try {
    return acquireHomeLock(path, { pid: process.pid, purpose: 'test', url: null, startedAt: 1 });
  } catch (error) {
    if (error instanceof StoreError) return { kind: 'failed', reason: error.reason };
    throw error;
  }
}

const result = take(home);
console.log(JSON.stringify(result.kind === 'acquired' ? { kind: 'acquired' } : result));
// Without work a process ends by itself.
if (result.kind === 'acquired') setInterval(() => {}, 1_000_000);
