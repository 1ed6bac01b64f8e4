/** Commands that are announced and do not work yet. They say so. */
import { say, type Command } from './command.ts';

export const laterCommands: readonly Command[] = [
  later('background', 'do something beside the conversation', 'Until then /queue TEXT sends it for later.'),
  later('cron', 'do something at certain times', ''),
];

function later(name: string, summary: string, meanwhile: string): Command {
  const text = `/${name} does not work yet; it comes with a later version. ${meanwhile}`.trim();
  return {
    name,
    usage: '',
    summary,
    role: 'user',
    repetition: 'reads',
    isLater: true,
    run: () => Promise.resolve(say(text)),
  };
}
