/**
 * Answering the question that waits. A plain line answers it only if it is one of the choices, or if any text will
 * do; everything else stays a message. `/answer TEXT` always means the question.
 */
import type { ChatControl } from './chat-control.ts';
import { answerIn, type AskedQuestion } from './open-questions.ts';
import { printableLine } from './printable.ts';
import { choiceWords, questionLines } from './question-lines.ts';

const answerCharsMax = 100;

/** Shows the question that waits, where it was asked before it could be seen. */
export function showQuestion(chat: ChatControl): void {
  const { question } = chat.conversation;
  if (question !== null) chat.say(questionLines(question, chat.style).join('\n'));
}

/** True if the line was meant for the question and went there. */
export async function answerByLine(chat: ChatControl, line: string): Promise<boolean> {
  const { question } = chat.conversation;
  const answer = question === null ? null : answerIn(question, line);
  if (question === null || line === '') return false;
  if (answer === null) {
    chat.say(
      chat.style.dim('(sent as a message; the question still waits: answer with its number, its word or /answer)'),
    );
    return false;
  }
  await give(chat, question, answer);
  return true;
}

export async function answerCommand(chat: ChatControl, text: string): Promise<void> {
  const { question } = chat.conversation;
  if (question === null) return chat.say(chat.style.dim('no question waits for an answer'));
  const answer = answerIn(question, text);
  if (answer !== null) return give(chat, question, answer);
  const choices = question.choices === null ? 'any text' : choiceWords(question.choices);
  chat.say(`the question waits for: ${choices}`);
}

async function give(chat: ChatControl, question: AskedQuestion, answer: string): Promise<void> {
  const isTaken = await chat.conversation.answer(question, answer);
  const words = isTaken
    ? `(answered: ${printableLine(answer, answerCharsMax)})`
    : '(that question does not wait any more)';
  chat.say(chat.style.dim(words));
  // Several calls may have asked at once.
  showQuestion(chat);
}
