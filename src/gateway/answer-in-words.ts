/** What plain words mean to a question that waits: its answer, or nothing, and then it is said what would be one. Pure. */
import type { Question } from '../protocol/messages.ts';

const shownCharsMax = 200;
/** What a question is answered with where the message has no words, only files. */
const inTheirMessage = '(see their message)';

/** Null if they are none. Permission is given by a button or a command only. */
export function answerInWords({ choices, isApproval }: Question, words: string): string | null {
  if (isApproval === true) return null;
  if (choices === null) return words === '' ? inTheirMessage : words;
  return choices.find((choice) => choice.trim().toLowerCase() === words.toLowerCase()) ?? null;
}

export function stillWaits({ text, choices, isApproval }: Question): string {
  const short = text.length <= shownCharsMax ? text : `${text.slice(0, shownCharsMax).toWellFormed()}…`;
  const how =
    isApproval === true
      ? 'Press a button, or send /approve or /deny.'
      : choices === null
        ? 'Write it in your own words.'
        : `Press a button, or send one of: ${choices.join(', ')}`;
  return `What you sent is kept, but this waits for an answer first:\n${short}\n${how}`;
}
