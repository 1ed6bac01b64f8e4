/**
 * Questions that arise while one question from the command line is worked on: told on stderr with how to answer, and
 * taken from the terminal where a person sits at one. Never holds the work up; stdout stays the reply's alone.
 */
import type { Interface } from 'node:readline';
import { systemClock } from '../lib/clock.ts';
import type { SessionEvent } from '../protocol/events.ts';
import { answerIn, isWaiting, questionsAfter, type OpenQuestions } from '../tui/open-questions.ts';
import { choiceWords, questionLines } from '../tui/question-lines.ts';
import type { EventOrigin } from './ask-once.ts';
import type { CommandContext } from './command.ts';
import { describeError } from './report-error.ts';

export interface QuestionPrompt {
  /** Somebody sits at the terminal. */
  readonly canAnswer: boolean;
  onEvent(event: SessionEvent, origin: EventOrigin): void;
  /** Gives the terminal back. Idempotent. */
  close(): void;
}

export function createQuestionPrompt({ streams }: Pick<CommandContext, 'streams'>): QuestionPrompt {
  const canType = streams.stdinIsTty && streams.stderrIsTty;
  let open: OpenQuestions = [];
  let where: EventOrigin | null = null;
  let lines: Promise<Interface> | null = null;

  const close = () => {
    void lines?.then((opened) => opened.close());
    lines = null;
  };
  const answer = async (line: string): Promise<void> => {
    const question = open.findLast((one) => isWaiting(one, systemClock.now()));
    if (question === undefined || where === null) return;
    const text = answerIn(question, line);
    if (text === null) {
      streams.note(
        `answer with ${question.choices === null ? 'some text' : `one of: ${choiceWords(question.choices)}`}`,
      );
      return;
    }
    const isTaken = await where.connection.api.answer(where.session, question.callId, text);
    if (!isTaken) streams.note('that question does not wait any more');
  };
  const listen = async (): Promise<Interface> => {
    const { createInterface } = await import('node:readline');
    // The terminal keeps its own line editing, so that Ctrl-C stays an interruption.
    const opened = createInterface({ input: streams.stdin, terminal: false });
    opened.on('line', (line) => {
      answer(line).catch((error: unknown) => streams.note(`talaria: ${describeError(error)}`));
    });
    return opened;
  };

  return {
    canAnswer: canType,
    close,
    onEvent(event, origin) {
      if (event.kind !== 'entry' || !origin.isOurs) return;
      where = origin;
      open = questionsAfter(open, event.entry);
      if (open.length === 0) return close();
      if (event.entry.kind !== 'notice' || event.entry.question === undefined) return;
      const asked = questionLines({ ...event.entry.question, text: event.entry.text }, streams.errStyle);
      for (const line of asked) streams.note(line);
      streams.note(howToAnswer(origin, canType));
      if (canType) lines ??= listen();
    },
  };
}

function howToAnswer({ connection, session }: EventOrigin, canType: boolean): string {
  if (canType) return 'type your answer:';
  if (connection.place === 'gateway') return `answer with: talaria sessions answer ${JSON.stringify(session)} TEXT`;
  return 'nobody can answer this while no gateway runs; start one with talaria gateway and ask again';
}
