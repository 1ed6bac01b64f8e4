/**
 * What the calls of the open turn came to, read from the log. Models get stuck: they repeat a call that fails, or keep
 * asking for tools that don't exist. From this it is told when that is so. Pure.
 */
import type { CallId } from '../protocol/ids.ts';
import { toolCallsOf, type ToolCallPart, type ToolResultPart } from '../protocol/messages.ts';
import { messagesOfTurn, type Journal } from './journal.ts';

/** How often the same call may fail before the model is warned with its result, and before the turn is ended. */
export const sameFailureWarnedAt = 2;
export const sameFailureStoppedAt = 5;
/** So many answers in a row with nothing but mistaken calls end the turn. */
export const mistakenRoundsMax = 3;

export interface CallHistory {
  /** How often this very call failed in this turn. */
  failures(name: string, argumentText: string): number;
  /** Answers at the end of the turn of which every call was a mistake. */
  readonly mistakenRounds: number;
  /** The most often repeated failing call has failed this often. */
  readonly mostFailures: number;
}

export function callHistory(journal: Journal): CallHistory {
  const rounds: ToolCallPart[][] = [];
  const results = new Map<CallId, ToolResultPart>();
  for (const { message } of [...messagesOfTurn(journal)].reverse()) {
    if (message.role === 'assistant') rounds.push(toolCallsOf(message));
    if (message.role === 'tool') results.set(message.parts[0].callId, message.parts[0]);
  }
  const failed = new Map<string, number>();
  for (const call of rounds.flat()) {
    const key = keyOf(call.name, call.arguments);
    if (results.get(call.callId)?.outcome === 'failed') failed.set(key, (failed.get(key) ?? 0) + 1);
  }
  const isMistaken = (calls: ToolCallPart[]) =>
    calls.length > 0 && calls.every((call) => results.get(call.callId)?.mistake === true);
  const lastGood = rounds.findLastIndex((calls) => !isMistaken(calls));
  return {
    failures: (name, argumentText) => failed.get(keyOf(name, argumentText)) ?? 0,
    mistakenRounds: rounds.length - 1 - lastGood,
    mostFailures: Math.max(0, ...failed.values()),
  };
}

/** The same text, not the same meaning: a model that is stuck repeats itself to the letter. */
function keyOf(name: string, argumentText: string): string {
  return `${name}\n${argumentText}`;
}
