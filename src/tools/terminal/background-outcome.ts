/** What the model is told about a process that was put into the background: its name, or that it ended at once. */
import type { Clock } from '../../lib/clock.ts';
import type { ToolOutcome } from '../tool.ts';
import type { CallSpool } from './call-spool.ts';
import { exitNotes, withNotes } from './command-outcome.ts';
import { endAll } from './end-command.ts';
import { isWithin, missedBy, type CommandResult } from './follow-command.ts';
import { collectOutput } from './output-collector.ts';
import { followOutput, readToEnd } from './output-follower.ts';
import type { SessionHost } from './session-host.ts';

const beginMs = 10_000;
/** One that fails at once is told as such. */
const startLookMs = 250;

export async function beginning(
  clock: Clock,
  spool: CallSpool,
  host: SessionHost | null,
  { id, notes }: { readonly id: string; readonly notes: readonly string[] },
): Promise<Extract<ToolOutcome, { kind: 'finished' }> | Extract<CommandResult, { kind: 'not-begun' }>> {
  const isMissed = missedBy(clock, spool, host);
  const hasBegun = async () =>
    (host === null ? await spool.readGroup() : await spool.readBegun()) !== null || (await spool.readExit()) !== null;
  await isWithin(clock, beginMs, async () => (await hasBegun()) || (await isMissed()) !== null);
  const missing = await isMissed();
  if (missing !== null) {
    await endAll(clock, spool);
    return { kind: 'not-begun', host: missing };
  }
  const hasEnded = await isWithin(clock, startLookMs, async () => (await spool.readExit()) !== null);
  const running = `[${id} runs in the background; process shows what it prints and ends it]`;
  if (!hasEnded) return { kind: 'finished', text: [...notes, running].join('\n') };
  return { kind: 'finished', text: [...notes, await endedAtOnce(clock, spool, id)].join('\n') };
}

async function endedAtOnce(clock: Clock, spool: CallSpool, id: string): Promise<string> {
  const output = collectOutput(clock, () => {});
  const file = followOutput(spool.outputPath, output.push);
  await readToEnd(file);
  await file.close();
  const exit = await spool.readExit();
  return withNotes(output.end(spool.outputPath), [`[${id} ended at once]`, ...(exit === null ? [] : exitNotes(exit))]);
}
