/** A question that waits for a person, as lines for a terminal: what is asked, what can be answered, until when. */
import { formatTime } from './format-time.ts';
import type { AskedQuestion } from './open-questions.ts';
import { printable, printableLine } from './printable.ts';
import type { Style } from './style.ts';

const choiceCharsMax = 200;

export function questionLines(
  question: Pick<AskedQuestion, 'text' | 'choices' | 'deadline'>,
  style: Style,
): [string, ...string[]] {
  const until = style.dim(`(waits until ${formatTime(question.deadline)})`);
  const asked = style.yellow(`? ${printable(question.text).trimEnd()}`);
  if (question.choices === null) return [asked, `  ${until}`];
  const choices = question.choices.map(
    (choice, index) => `  ${style.bold(String(index + 1))}  ${printableLine(choice, choiceCharsMax)}`,
  );
  return [asked, ...choices, `  ${until}`];
}

/** The choices in a sentence: `yes, no`. */
export function choiceWords(choices: readonly string[]): string {
  return choices.map((choice) => printableLine(choice, choiceCharsMax)).join(', ');
}
