/** For tests: a process that takes a home and keeps it until it is ended. `node fake-home-holder.ts HOME` */
import { acquireHomeLock } from './home-lock.ts';

const [home] = process.argv.slice(2);
if (home === undefined) throw new Error('usage: HOME');

const result = acquireHomeLock(home, { pid: process.pid, purpose: 'test', url: null, startedAt: 1 });
console.log(result.kind === 'acquired' ? 'acquired' : JSON.stringify(result));
// Without work a process ends by itself.
if (result.kind === 'acquired') setInterval(() => {}, 1_000_000);
