/**
 * `/approve`, `/deny` and `/answer`: answering the newest question that waits in this conversation. The first two are for
 * permissions before anything else.
 */
import { approvalScopes, approvalWords, type ApprovalScope } from '../../protocol/approval-words.ts';
import type { Question } from '../../protocol/messages.ts';
import type { CallRecord, SessionRecord } from '../../store/store.ts';
import { mayAnswer, mayNotApprove, ownerApproves } from '../may-approve.ts';
import { say, type Command, type CommandCall, type CommandOutcome } from './command.ts';
import type { CommandServices } from './services.ts';

const shownCharsMax = 200;
const yesWords: readonly string[] = ['yes', 'y', 'approve', 'allow', 'ok', 'run', 'once'];
const noWords: readonly string[] = ['no', 'n', 'deny', 'refuse', 'cancel', 'never'];

export const approveCommand: Command = {
  name: 'approve',
  usage: '[once|session|always]',
  summary: 'say yes to what it asks',
  role: 'user',
  repetition: 'idempotent',
  run: (call, services) => {
    const scope = call.argument.trim().toLowerCase() || 'once';
    if (!isScope(scope)) return Promise.resolve(say(`Send /approve with one of: ${approvalScopes.join(', ')}.`));
    return answerNewest(call, services, isPermission, ({ isApproval, choices }) =>
      isApproval === true
        ? (choices?.find((choice) => choice === approvalWords[scope]) ?? null)
        : byWord(choices, yesWords),
    );
  },
};

export const denyCommand: Command = {
  name: 'deny',
  usage: '',
  summary: 'say no to what it asks',
  role: 'user',
  repetition: 'idempotent',
  run: (call, services) =>
    answerNewest(call, services, isPermission, ({ isApproval, choices }) =>
      isApproval === true ? approvalWords.no : byWord(choices, noWords),
    ),
};

export const answerCommand: Command = {
  name: 'answer',
  usage: 'TEXT',
  summary: 'answer what it asks',
  role: 'user',
  repetition: 'idempotent',
  run: (call, services) =>
    answerNewest(call, services, isAny, ({ choices }) => {
      if (call.argument === '' || choices === null) return call.argument === '' ? null : call.argument;
      return choices.find((choice) => choice.trim().toLowerCase() === call.argument.toLowerCase()) ?? null;
    }),
};

function isScope(word: string): word is ApprovalScope {
  return (approvalScopes as readonly string[]).includes(word);
}

/** The choice that begins with one of these words. */
function byWord(choices: readonly string[] | null, words: readonly string[]): string | null {
  const first = (choice: string) =>
    choice
      .trim()
      .toLowerCase()
      .split(/\P{L}+/u, 1)[0] ?? '';
  return choices?.find((choice) => words.includes(first(choice))) ?? null;
}

type Matches = (question: Question) => boolean;
const isPermission: Matches = ({ isApproval }) => isApproval === true;
const isAny: Matches = () => true;

/**
 * The newest of those that are meant first, else the newest of all. Only the first answer to a question counts; a
 * repetition could answer another one only if that was asked meanwhile.
 */
async function answerNewest(
  { session, identity }: CommandCall,
  services: CommandServices,
  isMeant: Matches,
  choose: (question: Question) => string | null,
): Promise<CommandOutcome> {
  const asked = session === null ? [] : await openQuestions(services, session);
  const newest = asked.findLast(({ question }) => question !== null && isMeant(question)) ?? asked.at(-1);
  const question = newest?.question ?? null;
  if (session === null || newest === undefined || question === null) return say('No question waits for an answer.');
  if (!mayAnswer(services.mayApprove ?? ownerApproves, identity, session, question)) return say(mayNotApprove);
  const { text, choices } = question;
  const answer = choose(question);
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

/** The newest question that waits. */
export async function waitingQuestion(services: CommandServices, session: SessionRecord): Promise<CallRecord | null> {
  return session.turn === 'open' ? ((await openQuestions(services, session)).at(-1) ?? null) : null;
}

export function isOpenQuestion({ state, question, answer }: CallRecord, now: number): boolean {
  return state === 'waiting' && answer === null && question !== null && now < question.deadline;
}

function shortened(text: string): string {
  return text.length <= shownCharsMax ? text : `${text.slice(0, shownCharsMax).toWellFormed()}…`;
}
