/** `/undo`, `/retry` and `/reset`: taking back what was said. The log keeps it; the model is not told of it any more. */
import { waitingMessagesMax } from '../../protocol/api.ts';
import type { UserMessage } from '../../protocol/messages.ts';
import type { SessionRecord } from '../../store/store.ts';
import { askFirst, noSession, say, type Command, type CommandCall } from './command.ts';
import { excerptOf, goesOnAfter, lastExchange, takenBack, wasRewoundTo, type Exchange } from './last-exchange.ts';
import { closeTools, endAllTurns, endTurn, withLease, type CommandServices } from './services.ts';

const stays = 'Files and whatever else was changed stay as they are.';
const nothingSaid = say('Nothing has been said yet.');
const goneOn = (command: string) => say(`The conversation has gone on since. Send ${command} again.`);
const isEnding = (command: string) => say(`The turn is being stopped. Send ${command} again in a moment.`);

/** What is confirmed names its exchange, so that a second time, or one that comes too late, takes back nothing more. */
export const undoCommand: Command = {
  name: 'undo',
  usage: '',
  summary: 'take back the last exchange',
  role: 'user',
  repetition: 'remembers',
  async run({ session, argument }, services) {
    if (session === null) return noSession;
    const { read } = services.store;
    const [, confirmed] = /^yes (\d{1,12})$/.exec(argument) ?? [];
    const exchange = await lastExchange(read, session);
    if (confirmed === undefined) {
      if (exchange === null) return nothingSaid;
      const question = `Take back the last exchange, which began with "${excerptOf(exchange)}"? ${stays}`;
      return askFirst(question, 'Take it back', `/undo yes ${exchange.beforeSeq}`);
    }
    const toSeq = Number(confirmed);
    if (!(await goesOnAfter(read, session, toSeq))) {
      const isOut = await wasRewoundTo(read, session, toSeq);
      return say(isOut ? 'It is taken back.' : 'No exchange has this number. Send /undo again.');
    }
    if (exchange?.beforeSeq !== toSeq) return goneOn('/undo');
    switch (await takeBack(services, session, toSeq)) {
      case 'done':
        return say('It is taken back.');
      case 'busy':
        return isEnding(`/undo yes ${toSeq}`);
      case 'gone-on':
        return goneOn('/undo');
    }
  },
};

export const resetCommand: Command = {
  name: 'reset',
  usage: '',
  summary: 'empty this conversation; it keeps its name and settings',
  role: 'user',
  repetition: 'idempotent',
  async run({ session, argument }, services) {
    if (session === null) return noSession;
    if (argument !== 'yes') {
      const question = `Forget everything that was said in ${session.name}, and end what runs in it? ${stays}`;
      return askFirst(question, 'Forget it', '/reset yes');
    }
    await endAllTurns(services, session);
    if (!(await endTurn(services, await fresh(services, session)))) return isEnding('/reset yes');
    await closeTools(services, session.id);
    const isEmpty = !(await goesOnAfter(services.store.read, await fresh(services, session), 0));
    return isEmpty || (await rewindTo(services, session, 0)) === 'done'
      ? say(`${session.name} is empty again.`)
      : isEnding('/reset yes');
  },
};

/** What it asks again is stored under an id of its own, made of the command's: by that it is known that it was asked. */
export const retryCommand: Command = {
  name: 'retry',
  usage: '',
  summary: 'take back the last answer and ask again',
  role: 'user',
  repetition: 'remembers',
  async run(call, services) {
    const { session } = call;
    if (session === null) return noSession;
    const { store, drain } = services;
    if (session.turn === 'parked' && (await store.retryParked(session.id))) {
      drain.wake(session.id);
      return say('The parked turn is tried again.');
    }
    if (await wasAskedAgain(services, session, call)) return say('Asked again.');
    const exchange = (await takenBack(store.read, session)) ?? (await lastExchange(store.read, session));
    if (exchange === null || exchange.asked.length === 0) return nothingSaid;
    const isOut = !(await goesOnAfter(store.read, session, exchange.beforeSeq));
    const outcome = isOut ? 'done' : await takeBack(services, session, exchange.beforeSeq);
    if (outcome !== 'done') return outcome === 'busy' ? isEnding('/retry') : goneOn('/retry');
    await askAgain(services, session, exchange, call);
    return say(`Asked again: ${excerptOf(exchange)}`);
  },
};

/** `gone-on`: it is not the last exchange any more, because what had waited behind it was answered meanwhile. */
function takeBack(services: CommandServices, session: SessionRecord, toSeq: number): Promise<Rewound> {
  return rewindTo(services, session, toSeq, async () => {
    const last = await lastExchange(services.store.read, await fresh(services, session));
    return last?.beforeSeq === toSeq;
  });
}

/** `busy`: somebody else is at work in the session for longer than a command may wait. */
type Rewound = 'done' | 'busy' | 'gone-on';

async function rewindTo(
  services: CommandServices,
  session: SessionRecord,
  toSeq: number,
  isStillMeant: () => Promise<boolean> = () => Promise.resolve(true),
): Promise<Rewound> {
  if (!(await endTurn(services, session))) return 'busy';
  // What is taken back must not be tried again later.
  if (session.turn === 'parked') await services.store.dropParked(session.id);
  return withLease(services, session.id, async (lease): Promise<Rewound> => {
    if (!(await isStillMeant())) return 'gone-on';
    await services.store.commit(lease, [{ verb: 'rewind', toSeq }]);
    return 'done';
  });
}

async function fresh({ store }: CommandServices, session: SessionRecord): Promise<SessionRecord> {
  return (await store.read.session(session.id)) ?? session;
}

const againId = ({ externalId }: CommandCall) => `${externalId}/again`;

async function wasAskedAgain({ store }: CommandServices, session: SessionRecord, call: CommandCall): Promise<boolean> {
  const journal = await store.read.journal(session.id, session.lastSeq);
  if (journal?.waiting.some((record) => record.externalId === againId(call))) return true;
  const inboxId = (await lastExchange(store.read, session))?.asked[0]?.inboxId ?? null;
  const record = inboxId === null ? null : await store.read.inbox(inboxId);
  return record?.externalId === againId(call);
}

async function askAgain(
  { store, ids, drain }: CommandServices,
  session: SessionRecord,
  { asked }: Exchange,
  call: CommandCall,
): Promise<void> {
  const { identity, place } = call;
  await store.admit({
    inboxId: ids.next('inb'),
    channel: identity.channel,
    externalId: againId(call),
    sender: identity.userId,
    message: joined(asked.map(({ message }) => message)),
    // The bytes are kept with the message that was taken back.
    contents: [],
    target: place.target ?? place.chat,
    session: { kind: 'existing', id: session.id },
    title: '',
    waitingMax: waitingMessagesMax,
  });
  drain.wake(session.id);
}

/**
 * What came in several messages is asked again in one: stored as a whole or not at all. A person asks now, but what a
 * stranger wrote is still a stranger's.
 */
function joined(messages: readonly UserMessage[]): UserMessage {
  const parts = messages.flatMap(({ parts }, index) =>
    index === 0 ? parts : [{ kind: 'text', text: '\n\n' } as const, ...parts],
  );
  const untrusted = messages.findLast((message) => message.untrusted !== undefined)?.untrusted;
  return { role: 'user', ...(untrusted === undefined ? {} : { untrusted }), parts };
}
