/** `/approve`, `/deny` and `/answer`: answering the newest question that waits in this conversation. */
import type { CallRecord, SessionRecord } from '../../store/store.ts';
import { say, type Command, type CommandCall, type CommandOutcome } from './command.ts';
import type { CommandServices } from './services.ts';

const shownCharsMax = 200;
const yesWords: readonly string[] = ['yes', 'y', 'approve', 'allow', 'ok', 'run', 'once'];
const noWords: readonly string[] = ['no', 'n', 'deny', 'refuse', 'cancel', 'never'];

export const approveCommand = byWord('approve', 'say yes to what it asks', yesWords);
export const denyCommand = byWord('deny', 'say no to what it asks', noWords);

export const answerCommand: Command = {
  name: 'answer',
  usage: 'TEXT',
  summary: 'answer what it asks',
  role: 'user',
  repetition: 'idempotent',
  run: (call, services) =>
    answerNewest(call, services, (choices) => {
      if (call.argument === '' || choices === null) return call.argument === '' ? null : call.argument;
      return choices.find((choice) => choice.trim().toLowerCase() === call.argument.toLowerCase()) ?? null;
    }),
};

/** Only the first answer to a question counts; a repetition could answer another one only if that was asked meanwhile. */
function byWord(name: string, summary: string, words: readonly string[]): Command {
  return {
    name,
    usage: '',
    summary,
    role: 'user',
    repetition: 'idempotent',
    run: (call, services) =>
      answerNewest(call, services, (choices) => {
        if (choices === null) return null;
        const first = (choice: string) =>
          choice
            .trim()
            .toLowerCase()
            .split(/\P{L}+/u, 1)[0] ?? '';
        return choices.find((choice) => words.includes(first(choice))) ?? null;
      }),
  };
}

type Choose = (choices: readonly string[] | null) => string | null;

async function answerNewest(call: CommandCall, services: CommandServices, choose: Choose): Promise<CommandOutcome> {
  const { session } = call;
  const asked = session === null ? [] : await openQuestions(services, session);
  const newest = asked.at(-1);
  const question = newest?.question ?? null;
  if (session === null || newest === undefined || question === null) return say('No question waits for an answer.');
  const { text, choices } = question;
  const answer = choose(choices);
  if (answer === null) {
    const expected =
      choices === null ? 'with /answer and your words' : `with /answer and one of: ${choices.join(', ')}`;
    return say(`${shortened(text)}\nAnswer ${expected}.`);
  }
  const isTaken = await services.store.answerCall(session.id, newest.id, answer);
  if (isTaken) services.drain.wake(session.id);
  return say(isTaken ? `${shortened(text)}\n→ ${answer}` : 'That question does not wait any more.');
}

/** Oldest first. */
async function openQuestions({ store, clock }: CommandServices, session: SessionRecord): Promise<CallRecord[]> {
  const calls = (await store.read.journal(session.id, session.lastSeq))?.unsettledCalls ?? [];
  return calls.filter((call) => isOpenQuestion(call, clock.now()));
}

export function isOpenQuestion({ state, question, answer }: CallRecord, now: number): boolean {
  return state === 'waiting' && answer === null && question !== null && now < question.deadline;
}

function shortened(text: string): string {
  return text.length <= shownCharsMax ? text : `${text.slice(0, shownCharsMax).toWellFormed()}…`;
}
