/**
 * A question on its way to a person: what is written to them, with a button for each choice. What a button's value means
 * is known here only: `CALLID:INDEX`, because a choice may be longer than a button can carry.
 */
import { isId } from '../lib/ids.ts';
import type { CallId } from '../protocol/ids.ts';
import type { Question } from '../protocol/messages.ts';
import type { ReplyButton } from '../store/store.ts';

const labelCharsMax = 60;
const choicesShownMax = 12;

export interface PressedChoice {
  readonly callId: CallId;
  readonly index: number;
}

/** Choices that no button shows whole stand in the text, under the number that is an answer too. */
export function questionText({ text, choices }: Question): string {
  if (choices === null) return `${text}\n\nWrite your answer.`;
  if (choices.length <= choicesShownMax && choices.every((choice) => labelOf(choice) === choice)) return text;
  return [text, '', ...choices.map((choice, index) => `${index + 1}. ${choice}`)].join('\n');
}

export function questionButtons(callId: CallId, { choices }: Question): ReplyButton[] {
  return (choices ?? []).slice(0, choicesShownMax).map((choice, index) => ({
    label: labelOf(choice),
    value: `${callId}:${index}`,
  }));
}

function labelOf(choice: string): string {
  if (choice.length <= labelCharsMax) return choice;
  const begin = choice.slice(0, labelCharsMax - 1);
  // Not through the middle of a character.
  return `${begin.isWellFormed() ? begin : begin.slice(0, -1)}…`;
}

/** What a button's value stands for; null if it is not one of a question's. */
export function readPressedChoice(value: string): PressedChoice | null {
  const [, callId = '', index = ''] = /^([a-z0-9_]+):(\d{1,3})$/.exec(value) ?? [];
  return isId('cal', callId) ? { callId, index: Number(index) } : null;
}
