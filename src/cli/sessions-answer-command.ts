/** `talaria sessions answer`: answers the question that a call of a session waits with. */
import { systemClock } from '../lib/clock.ts';
import type { SessionSummary, TalariaApi } from '../protocol/api.ts';
import { answerIn, isWaiting, openQuestions, type AskedQuestion, type OpenQuestions } from '../tui/open-questions.ts';
import { printable } from '../tui/printable.ts';
import { choiceWords } from '../tui/question-lines.ts';
import type { CommandInput } from './arguments.ts';
import { CliError, exitCodes, type CommandContext, type ExitCode } from './command.ts';
import { findSession } from './find-session.ts';
import { withApi } from './open-connection.ts';
import { turnOutcome } from './turn-outcome.ts';

export async function sessionsAnswerCommand(context: CommandContext, input: CommandInput): Promise<ExitCode> {
  const { streams, interrupt } = context;
  const [ref = '', ...words] = input.operands;
  return withApi(context, 'sessions answer', async (api, { place }) => {
    const session = await findSession(api, ref);
    const wanted = { callId: input.value('call'), text: words.join(' ') };
    const answer = await answerQuestion(api, session, wanted, systemClock.now());
    const name = JSON.stringify(session.name);
    streams.note(`answered ${JSON.stringify(printable(answer))} in ${name}`);
    if (place === 'gateway') return exitCodes.ok;
    const outcome = await turnOutcome(api, session, interrupt);
    interrupt.throwIfAborted();
    streams.note(`the turn ended: ${outcome ?? 'not yet'}; read it with: talaria sessions show ${name}`);
    return outcome === 'answered' ? exitCodes.ok : exitCodes.failed;
  });
}

export interface WantedAnswer {
  /** Null: the newest question that waits. */
  readonly callId: string | null;
  readonly text: string;
}

/** What was answered. Throws if no such question waits, or if the text is no answer to it. */
export async function answerQuestion(
  api: TalariaApi,
  session: SessionSummary,
  { callId, text }: WantedAnswer,
  now: number,
): Promise<string> {
  const waiting = (await openQuestions(api, session)).filter((one) => isWaiting(one, now));
  const question = questionMeant(session, waiting, callId);
  const answer = answerIn(question, text);
  if (answer === null) throw notAnAnswer(question);
  if (!(await api.answer(session.id, question.callId, answer))) throw noneWaits(session);
  return answer;
}

function questionMeant(session: SessionSummary, waiting: OpenQuestions, callId: string | null): AskedQuestion {
  const found = callId === null ? waiting.at(-1) : waiting.find((one) => one.callId === callId);
  if (found !== undefined) return found;
  if (callId === null || waiting.length === 0) throw noneWaits(session);
  const ids = waiting.map((one) => one.callId).join(', ');
  throw new CliError('failed', `no question of call ${printable(callId.slice(0, 60))} waits; those that do: ${ids}`);
}

function noneWaits(session: SessionSummary): CliError {
  const name = JSON.stringify(session.name);
  return new CliError('failed', `no question waits in ${name}; see it with: talaria sessions show ${name}`);
}

function notAnAnswer({ choices }: AskedQuestion): CliError {
  const wanted = choices === null ? 'the answer is empty' : `answer with one of: ${choiceWords(choices)}`;
  return new CliError('wrongUsage', wanted);
}
