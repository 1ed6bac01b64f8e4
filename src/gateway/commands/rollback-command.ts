/** `/rollback`: shows what tools changed in files, and puts files back as they were before one of the changes. */
import { noSession, say, type Command, type CommandOutcome } from './command.ts';
import type { CheckpointNote, CommandServices } from './services.ts';

const shownMax = 10;
const filesShownMax = 5;

const noneKept = say('No checkpoints are kept here. `files.checkpoints` in the configuration turns them on.');

export const rollbackCommand: Command = {
  name: 'rollback',
  usage: '[NUMBER] [force]',
  summary: 'show the last changes to files, or take them back',
  role: 'user',
  // Files that are as they were already are left alone, so a second time changes nothing more.
  repetition: 'idempotent',
  async run({ session, argument }, services) {
    if (session === null) return noSession;
    const { checkpoints } = services;
    if (checkpoints === undefined) return noneKept;
    if (argument === '') return say(listText(await checkpoints.list(session.id), services));
    const [, number, force] = /^#?(\d{1,8})(\s+force)?$/i.exec(argument) ?? [];
    if (number === undefined) return say('Send /rollback to see the changes, or /rollback NUMBER to take them back.');
    if (session.turn === 'open') return say('A turn is at work. Send /stop first, then this again.');
    try {
      return told(await checkpoints.rollBack(session.id, Number(number), force !== undefined), number);
    } catch (error) {
      services.log.error('a rollback stopped in the middle', { sessionId: session.id, number, error });
      return say(`It stopped in the middle: ${wordsOf(error)}. Sent again, /rollback ${number} does the rest.`);
    }
  },
};

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

type Outcome = Awaited<ReturnType<NonNullable<CommandServices['checkpoints']>['rollBack']>>;

function told(outcome: Outcome, number: string): CommandOutcome {
  switch (outcome.kind) {
    case 'no-such-checkpoint':
      return say(`There is no change ${number}. /rollback shows those there are.`);
    case 'changed-since': {
      const command = `/rollback ${number} force`;
      const text = `Nothing was changed, because of:\n${bullets(outcome.files)}\nTo overwrite what can be: ${command}`;
      return say(text, [{ label: 'Overwrite', value: command }]);
    }
    case 'done':
      if (outcome.number === null) return say(`The files are as they were before change ${number}.`);
      return say(
        `As before change ${number} again:\n${bullets(outcome.files)}\n/rollback ${outcome.number} takes this back.`,
      );
  }
}

function listText(all: readonly CheckpointNote[], { clock }: CommandServices): string {
  if (all.length === 0) return 'No file has been changed by a tool in this conversation.';
  const lines = all.slice(0, shownMax).map(({ number, tool, at, files }) => {
    const names = files.slice(0, filesShownMax).map(({ path, before }) => (before === null ? `${path} (new)` : path));
    const rest = files.length - names.length;
    const more = rest > 0 ? ` and ${rest} more` : '';
    return `${number}. ${ago(clock.now() - at)}, ${tool}: ${names.join(', ')}${more}`;
  });
  const older = all.length > shownMax ? `\n${all.length - shownMax} older ones are kept too.` : '';
  return `${lines.join('\n')}${older}\n/rollback NUMBER puts files back as they were before that change.`;
}

function bullets(files: readonly string[]): string {
  const rest = files.length - shownMax;
  const lines = files.slice(0, shownMax).map((file) => `- ${file}`);
  return [...lines, ...(rest > 0 ? [`- and ${rest} more`] : [])].join('\n');
}

function ago(ms: number): string {
  const minutes = Math.max(0, Math.floor(ms / 60_000));
  if (minutes < 1) return 'just now';
  if (minutes < 60) return `${minutes} min ago`;
  return minutes < 2_880 ? `${Math.floor(minutes / 60)} h ago` : `${Math.floor(minutes / 1_440)} days ago`;
}
