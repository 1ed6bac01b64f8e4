/** `/queue` and `/steer`: a message with a busy mode of its own. It is admitted under the command's id: once. */
import { say, type BusyMode, type Command, type CommandCall, type CommandOutcome } from './command.ts';

export const queueCommand = sendWith('queue', 'send a message that waits for the end of the turn');
export const steerCommand = sendWith('steer', 'send a message into the turn under way');

function sendWith(mode: BusyMode, summary: string): Command {
  return {
    name: mode,
    usage: 'TEXT',
    summary,
    role: 'user',
    repetition: 'idempotent',
    run: (call) => Promise.resolve(sent(call, mode)),
  };
}

function sent({ argument, message }: CommandCall, mode: BusyMode): CommandOutcome {
  const rest = message.parts.filter((part) => part.kind !== 'text');
  if (argument === '' && rest.length === 0) return say(`What should be sent? /${mode} TEXT`);
  const text = argument === '' ? [] : [{ kind: 'text', text: argument } as const];
  return { kind: 'send', message: { role: 'user', parts: [...text, ...rest] }, mode };
}
