/**
 * Where permission is asked for in the conversation of somebody who can't give it, the owners of the channel are asked
 * too, in their own chats, with the same buttons. Looked at whenever a session comes to rest, after a restart as well; the
 * store keeps it to one message for each question and owner.
 */
import { questionButtons, questionText } from '../agent/questions.ts';
import type { Clock } from '../lib/clock.ts';
import type { IdSource } from '../lib/ids.ts';
import type { Log } from '../lib/log.ts';
import type { SessionId } from '../protocol/ids.ts';
import type { CallRecord, Person, SessionRecord, Store } from '../store/store.ts';
import type { AuthorizeDeps } from './authorize.ts';
import { isOpenQuestion } from './commands/question-commands.ts';
import type { MayApprove } from './may-approve.ts';
import { personOf } from './route-session.ts';
import type { RunWatcher } from './session-drain.ts';

/** More owners than anybody has. */
const ownersMax = 20;

export interface AskOwnersDeps {
  readonly store: Pick<Store, 'queueMessage'> & {
    readonly read: Pick<Store['read'], 'session' | 'journal' | 'people'>;
  };
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly log: Log;
  readonly policy: AuthorizeDeps['policy'];
  readonly isOwners: (sessionId: SessionId) => Promise<boolean>;
  readonly mayApprove: MayApprove;
  /** There is something to deliver. */
  readonly poke: () => void;
}

export function createAskOwners(deps: AskOwnersDeps): RunWatcher {
  return {
    see: () => {},
    rested(sessionId) {
      askOwners(deps, sessionId).catch((error: unknown) => deps.log.warn('owners not asked', { sessionId, error }));
    },
  };
}

async function askOwners(deps: AskOwnersDeps, sessionId: SessionId): Promise<void> {
  const { store, clock } = deps;
  const session = await store.read.session(sessionId);
  if (session?.turn !== 'open') return;
  const [channel = ''] = session.key.split(':', 1);
  if (deps.policy(channel) === null || deps.mayApprove({ role: 'user', owner: session.owner }, session)) return;
  const calls = (await store.read.journal(sessionId, session.lastSeq))?.unsettledCalls ?? [];
  const asking = calls.filter((call) => call.question?.isApproval === true && isOpenQuestion(call, clock.now()));
  if (asking.length === 0 || (await deps.isOwners(sessionId))) return;
  const people = (await store.read.people()).filter((person) => person.channel === channel);
  const asker = personOf(session.owner);
  const name = people.find(({ userId }) => userId === asker?.id)?.name ?? asker?.id ?? 'a group';
  for (const call of asking) {
    for (const owner of ownersAmong(people, deps.policy(channel)?.owners ?? [])) {
      await ask(deps, session, call, { channel, owner, asker: name });
    }
  }
}

/** By their ids: to write to somebody, a name is not enough. With a list of owners, nobody else is one. */
function ownersAmong(people: readonly Person[], listed: readonly string[]): readonly string[] {
  const ids =
    listed.length > 0
      ? listed.filter((one) => /^[A-Z0-9]+$/.test(one))
      : people.filter(({ role }) => role === 'owner').map(({ userId }) => userId);
  return ids.slice(0, ownersMax);
}

async function ask(
  { store, ids, poke }: AskOwnersDeps,
  session: SessionRecord,
  { id: callId, question }: CallRecord,
  { channel, owner, asker }: { readonly channel: string; readonly owner: string; readonly asker: string },
): Promise<void> {
  if (question === null) return;
  const isNew = await store.queueMessage({
    outboxId: ids.next('out'),
    sessionId: session.id,
    channel,
    target: owner,
    text: `In the conversation ${session.name} of ${asker}:\n\n${questionText(question)}`,
    buttons: questionButtons(callId, question),
    answers: { channel, externalId: `owner/${callId}/${owner}` },
  });
  if (isNew) poke();
}
