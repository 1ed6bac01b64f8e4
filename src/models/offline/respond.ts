/**
 * What the rehearsal model answers: a pure function of the request. How far a plan has come is read from the calls and
 * results that stand in the messages, so a turn taken up after a crash goes on where it was.
 */
import { textOf, toolCallsOf, type Message, type ToolResultPart } from '../../protocol/messages.ts';
import type { ModelRequest } from '../model.ts';
import { planOf, type OfflineCall, type Step } from './plan.ts';
import { thoughtsAbout } from './sayings.ts';
import { tellResult, tellUndone, type SettledCall } from './tell-results.ts';
import { rehearsalNotice } from './topics.ts';

export interface OfflineResponse {
  readonly reasoning?: string;
  readonly text: string;
  readonly calls: readonly OfflineCall[];
}

export function respond(request: ModelRequest): OfflineResponse {
  const toolNames = new Set(request.tools.map((tool) => tool.name));
  const turn = request.messages.slice(turnStart(request.messages));
  const steps = turn.flatMap((message) => (message.role === 'user' ? planOf(textOf(message), toolNames) : []));
  const rounds = roundsOf(turn);

  const next = steps.filter((step) => step.kind === 'calls')[rounds.length];
  const reasoning = rounds.length === 0 ? reasoningOf(steps) : {};
  if (next !== undefined && !rounds.flat().some(wentWrong)) return { ...reasoning, text: '', calls: next.calls };
  return { ...reasoning, text: finalText(request.messages, steps, rounds), calls: [] };
}

/** The words of the person that are not answered yet; spoken slowly if they ask for it. */
export function isAskedToBeSlow(request: ModelRequest): boolean {
  const turn = request.messages.slice(turnStart(request.messages));
  return turn.some((message) => message.role === 'user' && /\bslowly\b/i.test(textOf(message)));
}

/**
 * A turn begins after the last answer without calls. A call that went wrong and was followed by new words ends one too:
 * it was stopped, and what was planned then is not taken up again.
 */
function turnStart(messages: readonly Message[]): number {
  const lastUser = messages.findLastIndex((message) => message.role === 'user');
  const answered = messages.findLastIndex(
    (message) => message.role === 'assistant' && toolCallsOf(message).length === 0,
  );
  const stopped = messages.findLastIndex(
    (message, index) => index < lastUser && message.role === 'tool' && message.parts[0].outcome !== 'finished',
  );
  return Math.max(answered, stopped) + 1;
}

/** The calls made so far, answer by answer, with their results. */
function roundsOf(turn: readonly Message[]): SettledCall[][] {
  const results = new Map<string, ToolResultPart>();
  for (const message of turn) if (message.role === 'tool') results.set(message.parts[0].callId, message.parts[0]);
  return turn
    .filter((message) => message.role === 'assistant')
    .map((message) => toolCallsOf(message).map((call) => ({ call, result: results.get(call.callId) ?? null })));
}

function wentWrong({ result }: SettledCall): boolean {
  return result?.outcome !== 'finished';
}

function reasoningOf(steps: readonly Step[]): { reasoning?: string } {
  const thoughts = steps.flatMap((step) => (step.kind === 'think' ? [thoughtsAbout(step.about).reasoning] : []));
  return thoughts.length > 0 ? { reasoning: thoughts.join('\n\n') } : {};
}

function finalText(messages: readonly Message[], steps: readonly Step[], rounds: readonly SettledCall[][]): string {
  if (steps.length === 0) return 'There is nothing new to answer.';
  let round = 0;
  const paragraphs = steps.flatMap((step) => {
    switch (step.kind) {
      case 'calls': {
        const settled = rounds[round++];
        return settled === undefined ? [tellUndone(step.calls)] : settled.map(tellResult);
      }
      case 'say':
        return [step.text];
      case 'think':
        return [thoughtsAbout(step.about).text];
    }
  });
  // Whoever asks for exact words gets those and nothing else; the notice waits for the next answer.
  const isExact = steps.every((step) => step.kind === 'say' && step.isExact);
  if (!isExact && !isNoticeGiven(messages)) paragraphs.push(rehearsalNotice);
  return paragraphs.join('\n\n');
}

function isNoticeGiven(messages: readonly Message[]): boolean {
  return messages.some((message) => message.role === 'assistant' && textOf(message).includes(rehearsalNotice));
}
