/**
 * The table of all chat commands, the same on every channel, and how one is run: known or not, allowed or not. Help and
 * the platforms' menus are made from it. Who asks and where is known already; what is said is delivered by the caller.
 */
import type { MenuEntry } from '../../channels/channel.ts';
import { nearest } from '../../lib/nearest.ts';
import { ApiError } from '../../protocol/api.ts';
import { StoreError, type CallRecord, type SessionRecord } from '../../store/store.ts';
import type { Identity } from '../identity.ts';
import { say, type Command, type CommandCall, type CommandOutcome } from './command.ts';
import { compressCommand } from './compress-command.ts';
import { laterCommands } from './later-commands.ts';
import { answerCommand, approveCommand, denyCommand, waitingQuestion } from './question-commands.ts';
import { reloadMcpCommand } from './reload-mcp-command.ts';
import { resetCommand, retryCommand, undoCommand } from './rewind-commands.ts';
import { rollbackCommand } from './rollback-command.ts';
import { queueCommand, steerCommand } from './send-commands.ts';
import type { CommandServices } from './services.ts';
import { skillNames, skillsCommand, useSkill } from './skill-commands.ts';
import { forkCommand, resumeCommand, sessionsCommand, titleCommand } from './session-commands.ts';
import { modelCommand, reasoningCommand } from './settings-commands.ts';
import { memoryCommand, statusCommand, toolsCommand, usageCommand } from './show-commands.ts';
import { newCommand, stopCommand } from './turn-commands.ts';

const helpCommand: Command = {
  name: 'help',
  usage: '',
  summary: 'show the commands',
  role: 'user',
  repetition: 'reads',
  run: ({ identity }, services) => Promise.resolve(say(helpText(identity, services))),
};

/** In the order of help and menus. */
export const commandTable: readonly Command[] = [
  helpCommand,
  newCommand,
  stopCommand,
  retryCommand,
  undoCommand,
  resetCommand,
  rollbackCommand,
  statusCommand,
  usageCommand,
  modelCommand,
  reasoningCommand,
  sessionsCommand,
  resumeCommand,
  forkCommand,
  titleCommand,
  approveCommand,
  denyCommand,
  answerCommand,
  queueCommand,
  steerCommand,
  toolsCommand,
  memoryCommand,
  reloadMcpCommand,
  skillsCommand,
  compressCommand,
  ...laterCommands,
];

export interface Commands {
  /** What platforms show; what does not work yet is not in it. */
  readonly menu: readonly MenuEntry[];
  /** The newest question of this session that waits for a person; null if none does. */
  waitingQuestion(session: SessionRecord): Promise<CallRecord | null>;
  run(word: string, call: CommandCall): Promise<CommandOutcome>;
}

export function createCommands(services: CommandServices): Commands {
  const byName = new Map(commandTable.map((command) => [command.name, command]));
  return {
    menu: commandTable.filter((command) => command.isLater !== true).map(({ name, summary }) => ({ name, summary })),
    waitingQuestion: (session) => waitingQuestion(services, session),
    async run(word, call) {
      const command = byName.get(word);
      if (command === undefined) {
        const used = await useSkill(word, call, services);
        return used ?? say(unknownText(word, [...byName.keys(), ...(await skillNames(services))]));
      }
      if (!mayUse(command, call.identity, services)) return say(`/${word} is for the owner only.`);
      try {
        return await command.run(call, services);
      } catch (error) {
        const words = wordsForUser(error);
        if (words === null) throw error;
        return say(words);
      }
    },
  };
}

/** Null for what the sender can do nothing about: then nothing is answered, and the message comes again. */
function wordsForUser(error: unknown): string | null {
  if (error instanceof ApiError) return error.message;
  return error instanceof StoreError && error.reason === 'conflict' ? error.message : null;
}

function mayUse({ name, role }: Command, identity: Identity, { userCommands }: CommandServices): boolean {
  if (identity.role === 'owner' || name === 'help') return true;
  return userCommands(identity.channel)?.has(name) ?? role === 'user';
}

function unknownText(word: string, known: Iterable<string>): string {
  const [close] = nearest(word, known);
  const advice = close === undefined ? '/help shows those there are.' : `Did you mean /${close}?`;
  return `There is no command /${word.slice(0, 40)}. ${advice} To send it as a message, begin with //.`;
}

function helpText(identity: Identity, services: CommandServices): string {
  const usable = commandTable.filter((command) => mayUse(command, identity, services));
  const lines = usable
    .filter((command) => command.isLater !== true)
    .map(({ name, usage, summary }) => `/${name}${usage === '' ? '' : ` ${usage}`}: ${summary}`);
  const later = usable.filter((command) => command.isLater === true).map(({ name }) => `/${name}`);
  const announced = later.length === 0 ? [] : [`Not there yet: ${later.join(' ')}`];
  return [...lines, ...announced, 'A message that begins with // is sent with one /.'].join('\n');
}
