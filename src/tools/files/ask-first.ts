/**
 * What leaves the roots, or changes a protected file, is put before the gate as a plan. Approved, it is done exactly so:
 * the plan is made anew from what is there by then, and must be the same to the byte.
 */
import { dirname } from 'node:path';
import type { Gate, Plan } from '../approval.ts';
import { afterAnswer } from '../gated.ts';
import type { SettledQuestion, ToolContext, ToolOutcome } from '../tool.ts';
import { failed } from './file-deps.ts';
import type { Located } from './confined-open.ts';

/** The frozen plan that a person has approved; null if nobody was asked yet. */
export type Approved = string | null;

export const outsideText = (shown: string) =>
  `${shown} is outside the workspace. Only files inside it can be used; give a path relative to it.`;

/** Null if it may be done; else the outcome to end with. */
export async function mayGoOn(
  gate: Gate | null,
  plan: Plan,
  context: ToolContext,
  approved: Approved,
  shown: string,
): Promise<ToolOutcome | null> {
  if (approved !== null) {
    if (approved === plan.frozen) return null;
    return failed(
      `${shown} is not as it was when this was approved, so nothing was done. Call again if it is still wanted.`,
    );
  }
  if (gate === null) return failed(outsideText(shown));
  const answer = await gate.consider(plan, context);
  switch (answer.kind) {
    case 'go':
      return null;
    case 'refuse':
      return failed(answer.text);
    case 'ask':
      return { kind: 'ask', ...answer.question };
  }
}

export function readingPlan(place: Located, reason: string): Plan {
  const { path, entry } = place;
  return {
    kind: 'file',
    subject: `read ${dirname(path)}`,
    shown: `read ${path}`,
    lasting: `reading every file in ${dirname(path)}`,
    reasons: [reason],
    where: dirname(path),
    frozen: JSON.stringify({ action: 'read', path, id: entry?.id ?? null }),
  };
}

export interface PlannedChange {
  readonly place: Located;
  readonly isProtected: boolean;
  /** Hashes of the content; null if there is no file yet. */
  readonly before: string | null;
  readonly after: string;
  /** The change itself, whole. */
  readonly text: string;
}

export function changingPlan({ place, isProtected, before, after, text }: PlannedChange): Plan {
  const { path, zone } = place;
  const reasons = [
    ...(zone === 'outside' ? ['is outside the workspace'] : []),
    ...(isProtected ? ['is read or run by other programs later'] : []),
  ];
  return {
    kind: 'file',
    subject: `write ${path}`,
    shown: `write ${path}\n${text}`,
    lasting: `every change to ${path}`,
    reasons,
    where: dirname(path),
    frozen: JSON.stringify({ action: 'write', path, before, after }),
    // Whoever obeys it later is not in a sandbox, and may be Talaria itself.
    ...(isProtected ? { canSend: true as const } : {}),
  };
}

/** What a tool does with the answer to its question. */
export async function settleAnswer(
  gate: Gate | null,
  asked: Parameters<Gate['settle']>[0],
  answer: string | null,
  context: ToolContext,
  goOn: (approved: string) => Promise<ToolOutcome>,
): Promise<ToolOutcome> {
  if (gate === null) return failed('Nobody can be asked any more, so nothing was done.');
  return afterAnswer(gate, asked, answer, context, goOn);
}

/** Does again what a crash cut short, by the answer if somebody was asked before. */
export function asSettled(
  gate: Gate | null,
  settled: SettledQuestion | undefined,
  context: ToolContext,
  goOn: (approved: Approved) => Promise<ToolOutcome>,
): Promise<ToolOutcome> {
  return settled === undefined ? goOn(null) : settleAnswer(gate, settled.asked, settled.answer, context, goOn);
}
