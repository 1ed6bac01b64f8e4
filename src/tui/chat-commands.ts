/** The commands of the interactive chat: lines that begin with a slash and never reach the model. */
import { answerCommand, showQuestion } from './answer-question.ts';
import type { ChatControl } from './chat-control.ts';
import { printable, printableLine } from './printable.ts';
import { modelCommand, reasoningCommand } from './settings-commands.ts';
import { statusLines } from './status-lines.ts';
import { usageCommand } from './usage-command.ts';

interface ChatCommand {
  readonly summary: string;
  run(chat: ChatControl, argument: string): Promise<void> | void;
}

const sessionsShown = 15;
const titleCharsMax = 50;

const commands: Readonly<Record<string, ChatCommand>> = {
  help: {
    summary: 'show the commands',
    run(chat) {
      chat.say(chat.style.dim('  those of every channel work too: /retry /undo /reset /fork /title /queue /steer …'));
      chat.say(chat.style.dim('  a line that ends in \\ goes on in the next one; pasted lines stay together'));
      for (const [name, { summary }] of Object.entries(commands)) chat.say(`  /${name.padEnd(14)} ${summary}`);
    },
  },
  new: {
    summary: 'begin a new session',
    async run(chat) {
      await chat.conversation.enter(null);
      chat.say(chat.style.dim('a new session begins with your next message'));
    },
  },
  stop: {
    summary: 'stop the reply',
    async run(chat) {
      if (!(await chat.conversation.stop())) chat.say(chat.style.dim('nothing is running'));
    },
  },
  sessions: {
    summary: 'list the latest sessions',
    async run(chat) {
      const sessions = await chat.conversation.api.sessions({ limit: sessionsShown });
      for (const { name, title, state } of sessions) {
        const here = name === chat.conversation.name ? '*' : ' ';
        const running = state === 'idle' ? '' : chat.style.dim(` (${state})`);
        chat.say(`${here} ${chat.style.bold(name)}  ${printableLine(title, titleCharsMax)}${running}`);
      }
      if (sessions.length === 0) chat.say(chat.style.dim('none yet'));
    },
  },
  resume: {
    summary: 'NAME: go on with another session',
    async run(chat, name) {
      if (name === '') return chat.say('which one? /sessions lists them');
      const session = await chat.conversation.api.session(name);
      if (session === null) return chat.say(`there is no session ${printable(JSON.stringify(name))}; see /sessions`);
      await chat.conversation.enter(session.name);
      const title = printableLine(session.title, titleCharsMax);
      chat.say(chat.style.dim(`now in ${session.name}: ${title} (${session.messages} messages)`));
      showQuestion(chat);
    },
  },
  answer: {
    summary: 'TEXT: answer the question that waits',
    run: answerCommand,
  },
  model: {
    summary: '[NAME]: show or change the model of this session; default goes back',
    run: modelCommand,
  },
  reasoning: {
    summary: '[EFFORT]: show or change how hard it thinks in this session',
    run: reasoningCommand,
  },
  usage: {
    summary: 'show what the last turn, this session and today took',
    run: usageCommand,
  },
  status: {
    summary: 'show the session, the model and what is used',
    async run(chat) {
      const { name, api } = chat.conversation;
      const session = name === null ? null : await api.session(name);
      for (const line of statusLines(await api.status(), name, session?.settings ?? null, chat.clock.now())) {
        chat.say(line);
      }
    },
  },
  quit: {
    summary: 'leave',
    run: (chat) => chat.leave(),
  },
};

/** `line` begins with a slash. */
export async function runChatCommand(chat: ChatControl, line: string): Promise<void> {
  const [word = '', ...rest] = line.slice(1).split(/\s+/);
  const command = Object.hasOwn(commands, word) ? commands[word] : undefined;
  if (command !== undefined) return command.run(chat, rest.join(' '));
  // The table of all channels knows it, or says that it does not.
  const { name: before } = chat.conversation;
  const text = await chat.conversation.command(line);
  if (text !== null) chat.say(printable(text));
  // What it says is in the log of the session that was left.
  const { name } = chat.conversation;
  if (before !== null && name !== before) {
    chat.say(chat.style.dim(name === null ? 'a new session begins with your next message' : `now in ${name}`));
  }
}
