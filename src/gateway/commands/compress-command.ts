/** `/compress`: the conversation is told to the model more shortly from its next safe point on. The log keeps it all. */
import { noSession, say, type Command } from './command.ts';
import { writeAnytime } from './services.ts';

const topicCharsMax = 500;

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
    const answerTo = { channel: identity.channel, target: place.target ?? place.chat };
    const step = { kind: 'asked', why: 'person', topic, place: answerTo } as const;
    if (!(await writeAnytime(services, session.id, [{ verb: 'compress', step }]))) {
      return say('The conversation is being worked on elsewhere. Send /compress again in a moment.');
    }
    services.drain.wake(session.id);
    return say('It is shortened as soon as the step under way is done; then you are told what it won.');
  },
};
