/**
 * What a pressed button does: it answers a question of the presser's own session, or gives a command. A button outlives
 * what it was about, so everything is looked up again. Safe to repeat: the first answer to a question counts.
 */
import type { InboundPress } from '../channels/channel.ts';
import type { Clock } from '../lib/clock.ts';
import { readPressedChoice, type PressedChoice } from '../agent/questions.ts';
import type { SessionId } from '../protocol/ids.ts';
import type { CallRecord, SessionRecord } from '../store/store.ts';
import { answerCommand, type AnswerCommandDeps } from './answer-command.ts';
import { isOpenQuestion } from './commands/question-commands.ts';
import { parseCommand } from './commands/parse-command.ts';
import type { Identify, Identity } from './identity.ts';

/** How many of a person's latest sessions are looked through for a question. */
const sessionsLookedThrough = 50;
const wordCharsMax = 60;

export interface AnswerPressDeps extends AnswerCommandDeps {
  readonly identify: Identify;
  readonly clock: Clock;
  readonly wake: (sessionId: SessionId) => void;
}

/** Resolves with a short word for the one who pressed. */
export type Press = (press: InboundPress) => Promise<string>;

const tooLate = 'This can not be answered any more.';

export function createAnswerPress(deps: AnswerPressDeps): Press {
  return async (press) => {
    const identity = await deps.identify(press);
    if (identity === null) {
      const { channel, sender } = press;
      await deps.store.recordRefusal({ channel, userId: sender.id, name: sender.name });
      return 'You are not allowed to do this.';
    }
    const choice = readPressedChoice(press.value);
    if (choice !== null) return answerQuestion(deps, identity, choice);
    const message = { role: 'user', parts: [{ kind: 'text', text: press.value }] } as const;
    const parsed = parseCommand(message);
    if (parsed.kind !== 'command') return 'This button has no meaning any more.';
    const { word, argument } = parsed;
    const { channel, sender, place, externalId } = press;
    await answerCommand(deps, { channel, sender, place, externalId, identity, word, argument, message });
    return 'Done.';
  };
}

async function answerQuestion(
  deps: AnswerPressDeps,
  identity: Identity,
  { callId, index }: PressedChoice,
): Promise<string> {
  const found = await findCall(deps, identity, (call) => call.id === callId);
  const choice = found?.call.question?.choices?.[index];
  if (found === null || choice === undefined || !isOpenQuestion(found.call, deps.clock.now())) return tooLate;
  if (!(await deps.store.answerCall(found.session.id, callId, choice))) return tooLate;
  deps.wake(found.session.id);
  return choice.slice(0, wordCharsMax).toWellFormed();
}

/** In the place's session, or in one of the presser's that was left while it was at work. Nobody else's is looked at. */
async function findCall(
  { store }: AnswerPressDeps,
  { key, owner }: Identity,
  isMeant: (call: CallRecord) => boolean,
): Promise<{ readonly session: SessionRecord; readonly call: CallRecord } | null> {
  const here = await store.read.sessionByKey(key);
  const others = async () => await store.read.sessions({ limit: sessionsLookedThrough, owner });
  for (const sessions of [async () => (here === null ? [] : [here]), others]) {
    for (const session of await sessions()) {
      if (session.turn !== 'open') continue;
      const calls = (await store.read.journal(session.id, session.lastSeq))?.unsettledCalls ?? [];
      const call = calls.find(isMeant);
      if (call !== undefined) return { session, call };
    }
  }
  return null;
}
