/** What is wrong with a session's log as it is stored. */
import { toolCallsOf, type Entry } from '../../src/protocol/messages.ts';

/** What makes a log unfit to be sent to a model, or shows that a turn was closed twice; null if nothing does. */
export function transcriptProblem(entries: readonly Entry[]): string | null {
  let openTurn: string | null = null;
  let awaited = new Set<string>();
  const done = new Set<string>();
  for (const [index, entry] of entries.entries()) {
    const at = `entry ${entry.seq}`;
    if (entry.seq !== index + 1) return `${at} stands at place ${index + 1}`;
    if (entry.kind === 'turn-opened') {
      if (openTurn !== null) return `${at} opens a turn in an open one`;
      if (entry.turnId === null || done.has(entry.turnId)) return `${at} opens a turn that was closed`;
      openTurn = entry.turnId;
    } else if (entry.kind === 'turn-closed') {
      if (entry.turnId !== openTurn) return `${at} closes a turn that is not open`;
      if (awaited.size > 0) return `${at} closes a turn with calls that have no result`;
      // A parked turn may be tried again.
      if (openTurn !== null && entry.outcome !== 'parked') done.add(openTurn);
      openTurn = null;
    } else if (entry.kind === 'message') {
      if (entry.turnId !== openTurn) return `${at} is a message outside its turn`;
      const { message } = entry;
      if (message.role === 'tool') {
        if (!awaited.delete(message.parts[0].callId)) return `${at} is a result that no call waits for`;
      } else if (awaited.size > 0) return `${at} comes before the results of the calls`;
      if (message.role === 'assistant') awaited = new Set(toolCallsOf(message).map((call) => call.callId));
    }
  }
  return openTurn === null ? null : 'its last turn is not closed';
}
