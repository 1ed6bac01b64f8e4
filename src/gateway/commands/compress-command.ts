/** `/compress`: the conversation is told to the model more shortly from its next safe point on. The log keeps it all. */
import { compressionState } from '../../agent/compression-due.ts';
import type { SessionRecord, StoreReader } from '../../store/store.ts';
import { noSession, say, type Command } from './command.ts';
import { writeAnytime } from './services.ts';

const topicCharsMax = 500;
/** How far back a summary that is being written is looked for. */
const entriesLookedThrough = 64;

export const compressCommand: Command = {
  name: 'compress',
  usage: '[TOPIC]',
  summary: 'tell the model more shortly what was said so far; a topic is kept in full',
  role: 'user',
  // One that is asked for twice is done once, or finds that there is nothing left to win.
  repetition: 'idempotent',
  async run({ session, argument, identity, place }, services) {
    if (session === null) return noSession;
    const topic = argument.slice(0, topicCharsMax).toWellFormed();
    // What the model that writes was told can't be changed any more; a wish now would be forgotten with the one before.
    if (await isBegun(services.store.read, session)) {
      const again = topic === '' ? '' : ' Send this again when it is done, if the topic is to be kept.';
      return say(`The conversation is being shortened already.${again}`);
    }
    const answerTo = { channel: identity.channel, target: place.target ?? place.chat };
    const step = { kind: 'asked', why: 'person', topic, place: answerTo } as const;
    if (!(await writeAnytime(services, session.id, [{ verb: 'compress', step }]))) {
      return say('The conversation is being worked on elsewhere. Send /compress again in a moment.');
    }
    services.drain.wake(session.id);
    const when = session.turn === 'open' ? 'shortened as soon as the step under way is done' : 'being shortened';
    return say(`The conversation is ${when}; you are told what comes of it.`);
  },
};

/** What was begun goes on, in this process or the next: for a wish that waits, or in a turn that is open. */
async function isBegun(read: Pick<StoreReader, 'entries'>, { id, lastSeq, turn }: SessionRecord): Promise<boolean> {
  const after = Math.max(0, lastSeq - entriesLookedThrough);
  const { begun, asked } = compressionState(await read.entries(id, { after, limit: 2 * entriesLookedThrough }));
  return begun > 0 && (asked !== null || turn === 'open');
}
