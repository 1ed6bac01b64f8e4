/** The commands of the interactive chat: lines that begin with a slash and never reach the model. */
import type { Conversation } from './conversation.ts';
import { printable, printableLine } from './printable.ts';
import type { Style } from './style.ts';

/** What a command may do with the chat. */
export interface ChatControl {
  readonly conversation: Conversation;
  readonly style: Style;
  say(text: string): void;
  leave(): void;
}

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
    },
  },
  status: {
    summary: 'show the session, the model and what is used',
    async run(chat) {
      const { model, usage, turns, version, store } = await chat.conversation.api.status();
      chat.say(`session  ${chat.conversation.name ?? '(new)'}`);
      chat.say(`model    ${model.provider} ${model.name}`);
      chat.say(`turns    ${turns.running} running, ${turns.done} done, ${turns.failed} failed`);
      chat.say(`tokens   ${usage.input_tokens} in, ${usage.output_tokens} out`);
      chat.say(`talaria  ${version}, ${store}`);
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
  if (command === undefined) return chat.say(`there is no command /${printableLine(word, 40)}; see /help`);
  await command.run(chat, rest.join(' '));
}
