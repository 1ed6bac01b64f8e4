/**
 * One question from the command line: the final reply on stdout and nothing else, or every event as a line of JSON.
 * Whatever happens after the question was taken, JSON output ends with one line of kind `end`.
 */
import { createIdSource } from '../lib/ids.ts';
import { systemClock } from '../lib/clock.ts';
import { systemRandom } from '../lib/random.ts';
import type { SessionEvent } from '../protocol/events.ts';
import type { TurnOutcome } from '../protocol/messages.ts';
import { printable } from '../tui/printable.ts';
import { askOnce, type Answer, type Question } from './ask-once.ts';
import { exitCodes, Interrupted, type CommandContext, type ExitCode } from './command.ts';
import { openConnection } from './open-connection.ts';
import { createQuestionPrompt } from './question-prompt.ts';
import { describeError } from './report-error.ts';

export interface OneShot {
  readonly session: Question['session'];
  readonly text: string;
  readonly json: boolean;
}

interface EndLine {
  readonly kind: 'end';
  readonly outcome: TurnOutcome;
  readonly text: string;
  readonly session: string | null;
}

export async function oneShot(context: CommandContext, { session, text, json }: OneShot): Promise<ExitCode> {
  const { streams, interrupt } = context;
  const writeLine = (value: object) => streams.write(`${JSON.stringify(value)}\n`);
  const externalId: string = createIdSource({ clock: systemClock, random: systemRandom }).next('ask');
  const questions = createQuestionPrompt(context);
  let answer: Answer;
  try {
    answer = await askOnce(
      {
        connect: () => openConnection(context, '-p'),
        clock: systemClock,
        random: systemRandom,
        interrupt,
        onEvent: async (event, origin) => {
          if (json) return writeLine(event);
          showProgress(context, event);
          questions.onEvent(event, origin);
        },
        onNote: (line) => streams.note(`talaria: ${line}`),
        canAnswer: !json && questions.canAnswer,
      },
      { session, text, externalId },
    );
  } catch (error) {
    if (json) await writeLine(endOfFailure(error));
    throw error;
  } finally {
    questions.close();
    streams.status('');
  }
  if (json) await writeLine(endOf(answer));
  else await show(context, answer);
  if (interrupt.aborted) return exitCodes.interrupted;
  return answer.outcome === 'answered' ? exitCodes.ok : exitCodes.failed;
}

/** What the turn waits for is for somebody who looks on, or asked to be told everything. */
function showProgress({ streams, verbose }: CommandContext, event: SessionEvent): void {
  const text = event.kind === 'status' ? event.text : event.kind === 'live-state' ? (event.turn?.status ?? '') : '';
  if (verbose && text !== '') streams.note(`talaria: ${printable(text)}`);
  else streams.status(text === '' ? '' : `… ${text}`);
}

async function show({ streams, interrupt }: CommandContext, answer: Answer): Promise<void> {
  const reply = answer.reply || (answer.notices.at(-1) ?? '');
  if (answer.outcome === 'answered') {
    for (const notice of answer.reply === '' ? [] : answer.notices) streams.note(`talaria: ${printable(notice)}`);
    // Into a pipe or a file goes exactly what the model said; a terminal would obey what is hidden in it.
    const text = streams.stdoutIsTty ? printable(reply) : reply;
    await streams.write(text.endsWith('\n') ? text : `${text}\n`);
    return;
  }
  streams.note(`talaria: ${printable(explain(answer, interrupt.aborted)).replace(/\s*\n\s*/g, ' ')}`);
}

function explain(answer: Answer, interrupted: boolean): string {
  const look = `talaria sessions show ${JSON.stringify(answer.session)}`;
  const because = answer.notices.at(-1);
  switch (answer.outcome) {
    case 'stopped':
      return interrupted ? 'stopped' : `the turn was stopped; see how far it came with: ${look}`;
    case 'failed':
      return because ?? `the turn failed; see how far it came with: ${look}`;
    case 'parked':
      return because ?? `the turn is parked because it took the program down repeatedly; see: ${look}`;
    case 'answered':
    case null:
      return `left before the answer; it will be in the session: ${look}`;
  }
}

function endOf(answer: Answer): EndLine {
  const because = answer.notices.at(-1) ?? '';
  const text = answer.outcome === 'answered' ? answer.reply || because : because || answer.reply;
  return { kind: 'end', outcome: answer.outcome ?? 'stopped', text, session: answer.session };
}

function endOfFailure(error: unknown): EndLine {
  if (error instanceof Interrupted) return { kind: 'end', outcome: 'stopped', text: 'interrupted', session: null };
  return { kind: 'end', outcome: 'failed', text: describeError(error), session: null };
}
