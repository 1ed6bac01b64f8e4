/** All faults there are, as data: a test can go through them. */
import { brokenLines, oddLines } from './bad-lines.ts';
import type { Fault } from './fault.ts';
import { insteadOfAnswers } from './instead-of-answers.ts';
import { oddAnswers } from './odd-answers.ts';

export const faults: readonly Fault[] = [...insteadOfAnswers, ...brokenLines, ...oddLines, ...oddAnswers];

export function findFault(name: string): Fault | null {
  return faults.find((fault) => fault.name === name) ?? null;
}
