/**
 * When something last happened in a turn, and what. Pure. Time and description are one unit: whoever keeps one keeps the
 * other. Only signs of life count: what a model or a tool says, begins or ends; not that somebody is still waiting.
 */
import type { LiveTurn, SessionEvent } from '../protocol/events.ts';
import { callInWords, oneLine } from './progress-line.ts';

export interface Activity {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly description: string;
  /** Answers of models in this turn. */
  readonly modelCalls: number;
}

export const startingDescription = 'starting new turn (cached)';
/** What the agent says when it hears nothing: the opposite of a sign of life. */
const stillWaiting = /^Still waiting for /;
const descriptionCharsMax = 100;

/**
 * A turn begins. `interruptDepth`: how many turns in a row were interrupted for it. After an interrupt the clock goes on
 * from where it was: what was stuck before is not well only because somebody wrote again.
 */
export function enterTurn(before: Activity | null, interruptDepth: number, now: number): Activity {
  if (interruptDepth > 0 && before !== null) return { ...before, modelCalls: 0 };
  return { at: now, description: startingDescription, modelCalls: 0 };
}

/** `turn`: what is going on, this event included. */
export function afterEvent(activity: Activity, event: SessionEvent, turn: LiveTurn | null, now: number): Activity {
  if (event.kind === 'entry') {
    const isAnswer = event.entry.kind === 'message' && event.entry.message.role === 'assistant';
    return isAnswer ? { at: now, description: 'the model answered', modelCalls: activity.modelCalls + 1 } : activity;
  }
  const description = signOfLife(event, turn);
  return description === null ? activity : { ...activity, at: now, description };
}

export function idleMs(activity: Activity, now: number): number {
  return Math.max(0, now - activity.at);
}

function signOfLife(event: Exclude<SessionEvent, { kind: 'entry' }>, turn: LiveTurn | null): string | null {
  switch (event.kind) {
    case 'text-delta':
      return 'the model was writing';
    case 'reasoning-delta':
      return 'the model was thinking';
    case 'call-started':
      return callInWords(event);
    case 'call-output': {
      const call = turn?.calls.find(({ callId }) => callId === event.callId);
      return call === undefined ? 'a tool printed something' : callInWords(call);
    }
    case 'call-ended':
      return 'a tool ended';
    case 'status':
      // That a status is over says nothing; what ended it does.
      return event.text === '' || stillWaiting.test(event.text) ? null : oneLine(event.text, descriptionCharsMax);
    case 'turn-started':
    case 'turn-ended':
    case 'draft-cleared':
    case 'live-state':
    case 'trouble':
      return null;
  }
}
