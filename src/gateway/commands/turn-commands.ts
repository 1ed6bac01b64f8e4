/** `/new` and `/stop`: ending what goes on. */
import { askFirst, moved, say, type Command } from './command.ts';
import { closeTools, endAllTurns } from './services.ts';

const beginsAnew = 'A new conversation begins with your next message.';

/**
 * Closes the session for good: what its tools hold is torn down before the place is free for another one, so that a
 * repetition finds either both to do or neither.
 */
export const newCommand: Command = {
  name: 'new',
  usage: '',
  summary: 'begin a new conversation',
  role: 'user',
  repetition: 'idempotent',
  async run({ session, argument }, services) {
    const { store } = services;
    if (session === null) return say(beginsAnew);
    const waiting = (await store.read.journal(session.id, session.lastSeq))?.waiting.length ?? 0;
    const isAtWork = session.turn === 'open' || waiting > 0;
    if (isAtWork && argument !== 'yes') {
      const question = `${session.name} is still at work. Stop it and begin a new conversation?`;
      return askFirst(question, 'Stop and begin anew', '/new yes');
    }
    await endAllTurns(services, session);
    await closeTools(services, session.id);
    await store.closeSession(session.id);
    return moved(`${beginsAnew} The one before is ${session.name}; /resume ${session.name} goes back to it.`, null);
  },
};

export const stopCommand: Command = {
  name: 'stop',
  usage: '',
  summary: 'stop what it is doing',
  role: 'user',
  repetition: 'idempotent',
  async run({ session }, { drain }) {
    const isStopped = session !== null && (await drain.stop(session.id));
    return say(isStopped ? 'Stopping.' : 'Nothing is running.');
  },
};
