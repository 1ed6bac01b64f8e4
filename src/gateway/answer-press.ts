/**
 * What a pressed button does: it answers a question of the presser's own session, or gives a command. Where the agent asks
 * for permission, only those who may give it count, the owner wherever they see it. A button outlives what it was about, so
 * everything is looked up again. Safe to repeat: the first answer to a question counts.
 */
import type { InboundPress, PressAnswer } from '../channels/channel.ts';
import type { Clock } from '../lib/clock.ts';
import { readPressedChoice, type PressedChoice } from '../agent/questions.ts';
import type { CallId, SessionId } from '../protocol/ids.ts';
import type { CallRecord, SessionRecord, StoreReader } from '../store/store.ts';
import { answerCommand, type AnswerCommandDeps } from './answer-command.ts';
import { isOpenQuestion } from './commands/question-commands.ts';
import { parseCommand } from './commands/parse-command.ts';
import { chosenSession } from './chosen-session.ts';
import { readCommandButton } from './command-button.ts';
import { maySee, type Identify, type Identity } from './identity.ts';
import { mayAnswer, mayNotApprove, ownerApproves, type MayApprove } from './may-approve.ts';

/** How many of a person's latest sessions are looked through for a question. */
const sessionsLookedThrough = 50;
/** How many sessions at work are looked through for somebody else's. */
const othersLookedThrough = 200;
const wordCharsMax = 60;

export interface AnswerPressDeps extends AnswerCommandDeps {
  readonly identify: Identify;
  readonly clock: Clock;
  readonly wake: (sessionId: SessionId) => void;
  /** By default the owner alone. */
  readonly mayApprove?: MayApprove;
}

export type Press = (press: InboundPress) => Promise<PressAnswer>;

const tooLate: PressAnswer = { text: 'This can not be answered any more.', settled: true };
const notTheirs: PressAnswer = { text: 'This is not asked of you.', settled: false };

export function createAnswerPress(deps: AnswerPressDeps): Press {
  return async (press) => {
    const identity = await deps.identify(press);
    if (identity === null) {
      const { channel, sender } = press;
      await deps.store.recordRefusal({ channel, userId: sender.id, name: sender.name });
      return { text: 'You are not allowed to do this.', settled: false };
    }
    const choice = readPressedChoice(press.value);
    if (choice !== null) return answerQuestion(deps, identity, choice);
    return giveCommand(deps, identity, press);
  };
}

async function giveCommand(deps: AnswerPressDeps, identity: Identity, press: InboundPress): Promise<PressAnswer> {
  const { read } = deps.store;
  const { about, command } = readCommandButton(press.value);
  const message = { role: 'user', parts: [{ kind: 'text', text: command }] } as const;
  const parsed = parseCommand(message);
  if (parsed.kind !== 'command') return { text: 'This button has no meaning any more.', settled: true };
  const session = about === null ? null : await read.session(about);
  if (about !== null && (session === null || (await isLongOver(read, identity, session)))) return tooLate;
  // What somebody else was asked in a group is not about the presser's conversation.
  if (session !== null && !maySee(identity, session)) return notTheirs;
  const { word, argument } = parsed;
  const { channel, sender, place, externalId } = press;
  const chosen = session ?? (await chosenSession(read, identity, press.into));
  await answerCommand(deps, { channel, sender, place, externalId, identity, chosen, word, argument, message });
  return { text: 'Done.', settled: true };
}

/** Closed, at rest, and another conversation has its place. */
async function isLongOver(read: StoreReader, { key }: Identity, session: SessionRecord): Promise<boolean> {
  return session.isClosed && session.turn !== 'open' && (await read.sessionByKey(key)) !== null;
}

async function answerQuestion(
  deps: AnswerPressDeps,
  identity: Identity,
  { callId, index }: PressedChoice,
): Promise<PressAnswer> {
  const { store, clock, mayApprove = ownerApproves } = deps;
  const own = await findOwn(deps, identity, callId);
  const found = own ?? (await findElsewhere(deps, callId));
  const question = found?.call.question ?? null;
  const choice = question?.choices?.[index];
  if (found === null || question === null || choice === undefined) return tooLate;
  if (!isOpenQuestion(found.call, clock.now())) return tooLate;
  // A permission may be given by whoever may give it, in a group for instance; anything else is asked of somebody.
  if (own === null && question.isApproval !== true) return notTheirs;
  if (!mayAnswer(mayApprove, identity, found.session, question)) return { text: mayNotApprove, settled: false };
  if (!(await store.answerCall(found.session.id, callId, choice))) return tooLate;
  deps.wake(found.session.id);
  return { text: choice.slice(0, wordCharsMax).toWellFormed(), settled: true };
}

interface FoundCall {
  readonly session: SessionRecord;
  readonly call: CallRecord;
}

/** In the place's session, or in one of the presser's that was left while it was at work. */
async function findOwn(
  { store }: AnswerPressDeps,
  { key, owner }: Identity,
  callId: CallId,
): Promise<FoundCall | null> {
  const here = await store.read.sessionByKey(key);
  const found = here === null ? null : await callIn(store.read, here, callId);
  if (found !== null) return found;
  for (const session of await store.read.sessions({ limit: sessionsLookedThrough, owner })) {
    const left = await callIn(store.read, session, callId);
    if (left !== null) return left;
  }
  return null;
}

async function findElsewhere({ store }: AnswerPressDeps, callId: CallId): Promise<FoundCall | null> {
  for (const id of await store.read.sessionsWithWork(othersLookedThrough)) {
    const session = await store.read.session(id);
    const found = session === null ? null : await callIn(store.read, session, callId);
    if (found !== null) return found;
  }
  return null;
}

async function callIn(read: StoreReader, session: SessionRecord, callId: CallId): Promise<FoundCall | null> {
  if (session.turn !== 'open') return null;
  const calls = (await read.journal(session.id, session.lastSeq))?.unsettledCalls ?? [];
  const call = calls.find(({ id }) => id === callId);
  return call === undefined ? null : { session, call };
}
