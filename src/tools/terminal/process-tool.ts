/**
 * The tool `process`: what runs in the background of a session, started by `terminal`. Everything it says comes from the
 * spool and everything it does goes by pipes, so it makes no difference which process of Talaria started what.
 */
import { constants } from 'node:fs';
import { open, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { sleep, type Clock } from '../../lib/clock.ts';
import type { Gate, Plan } from '../approval.ts';
import { defineTool } from '../define-tool.ts';
import { afterAnswer, throughGate } from '../gated.ts';
import type { Tool, ToolContext, ToolOutcome } from '../tool.ts';
import { hasCode } from '../workspace-path.ts';
import { endCommand } from './end-command.ts';
import { findProcess, listProcesses, processState, type BackgroundProcess } from './process-table.ts';
import { lastLines, newOutput, stateText, summary } from './process-words.ts';
import { openHost, readSpec, tellHost, type SessionHost } from './session-host.ts';

const waitDefaultS = 30;
const waitMaxS = 600;
const linesDefault = 100;
const linesMax = 2_000;
const inputCharsMax = 60_000;
const lookMs = 50;

const signals = ['TERM', 'INT', 'KILL', 'HUP', 'QUIT', 'USR1', 'USR2'] as const;

const schema = z.strictObject({
  action: z.enum(['list', 'poll', 'log', 'wait', 'write', 'kill']),
  id: z.optional(z.string()),
  input: z.optional(z.string()),
  signal: z.optional(z.enum(signals)),
  lines: z.optional(z.number()),
  timeout_s: z.optional(z.number()),
});

type ProcessInput = z.output<typeof schema>;

export interface ProcessToolDeps {
  readonly clock: Clock;
  readonly gate: Gate;
}

export function createProcessTool(deps: ProcessToolDeps): Tool<ProcessInput> {
  const tool = defineTool({
    name: 'process',
    description:
      'Background processes: list; poll (new output and state); log (last lines); wait (for the end); write (input: a line, ctrl-c, ctrl-d); kill.',
    effect: 'write',
    replay: 'attach',
    schema,
    run: (input, context) => act(deps, input, context),
    // What only looks can look again; what was written or killed may have been.
    attach: async (input, context) =>
      input.action === 'write' || input.action === 'kill'
        ? { kind: 'unknown', text: 'Talaria was interrupted in that moment; look with poll whether it was done.' }
        : act(deps, input, context),
  });
  return {
    ...tool,
    answered: (input, answer, context, asked) =>
      afterAnswer(deps.gate, asked, answer, context, (frozen) => act(deps, input, context, frozen)),
  };
}

/** `approved`: what a person has said yes to. */
async function act(
  deps: ProcessToolDeps,
  input: ProcessInput,
  context: ToolContext,
  approved: string | null = null,
): Promise<ToolOutcome> {
  const { clock } = deps;
  const { spoolFolder } = context;
  if (input.action === 'list') return finished(await listed(clock, spoolFolder));
  if (input.id === undefined) return failed(`${input.action} needs the id of a process; list shows them.`);
  const found = await findProcess(spoolFolder, input.id);
  if (found === null) return failed(`There is no process ${input.id}; list shows those of this session.`);
  await markUsed(clock, found);
  switch (input.action) {
    case 'poll':
      return told(found, await newOutput(clock, found, context.callId));
    case 'log':
      return told(found, await lastLines(found, between(1, input.lines ?? linesDefault, linesMax)));
    case 'wait': {
      const isOver = await waited(
        clock,
        found,
        between(0, input.timeout_s ?? waitDefaultS, waitMaxS) * 1000,
        context.signal,
      );
      const note = isOver ? '' : '\n[still running; it was not ended]';
      return told(found, `${await newOutput(clock, found, context.callId)}${note}`);
    }
    case 'write':
      return allowedToWrite(deps.gate, found, input.input ?? '', context, approved);
    case 'kill':
      return kill(clock, found, input.signal ?? 'TERM');
  }
}

function between(least: number, wanted: number, most: number): number {
  return Math.min(most, Math.max(least, wanted));
}

async function listed(clock: Clock, spoolFolder: string): Promise<string> {
  const processes = await listProcesses(spoolFolder);
  if (processes.length === 0) return 'No process was started in the background.';
  return (await Promise.all(processes.map((process) => summary(clock, process)))).join('\n');
}

/** Whether it has ended. */
async function waited(
  clock: Clock,
  process: BackgroundProcess,
  limitMs: number,
  signal: AbortSignal,
): Promise<boolean> {
  const deadline = clock.now() + limitMs;
  for (;;) {
    if ((await processState(process)).kind !== 'running') return true;
    if (clock.now() >= deadline || signal.aborted) return false;
    await sleep(clock, lookMs, signal).catch(() => {});
  }
}

/** What is written to a program is a command to it: it asks where a command would. */
async function allowedToWrite(
  gate: Gate,
  process: BackgroundProcess,
  input: string,
  context: ToolContext,
  approved: string | null,
): Promise<ToolOutcome> {
  const plan = await planToWrite(process, input, context);
  if (plan === null) return write(process, input);
  if (approved === null) return throughGate(gate, plan, context, () => write(process, input));
  return approved === plan.frozen ? write(process, input) : failed('Not done: this is not what was approved.');
}

/** Null if nobody has to be asked. */
async function planToWrite(process: BackgroundProcess, input: string, context: ToolContext): Promise<Plan | null> {
  const host = await hostOf(process);
  const isOpen = host !== null && (await readSpec(host))?.level === 'none';
  const isSending = process.isOnline && context.untrusted !== null;
  if (!isOpen && !isSending) return null;
  return {
    kind: isOpen ? 'command' : 'send',
    subject: `write to ${process.id} ${process.callId}`,
    shown: `${process.command}\n<<< ${input}`,
    reasons: [isOpen ? 'runs outside any sandbox' : 'can send data out, and this turn has read what a stranger wrote'],
    where: `the input of ${process.id}`,
    frozen: JSON.stringify({ callId: process.callId, input }),
    onceOnly: true,
    canSend: true,
  };
}

async function write(process: BackgroundProcess, input: string): Promise<ToolOutcome> {
  if (input.length > inputCharsMax) return failed(`input is too long: at most ${inputCharsMax} characters at once.`);
  const host = await hostOf(process);
  if ((await processState(process)).kind !== 'running') return failed(`${process.id} does not run any more.`);
  if (host === null) return failed(`${process.id} has no input: it runs outside the session's sandbox.`);
  if (!process.isPty && input === 'ctrl-d') {
    await tellHost(host, `eof ${process.callId}`);
    return finished(`[the input of ${process.id} is at its end]`);
  }
  if (!process.isPty && input === 'ctrl-c') return signalled(process, host, 'INT');
  const keys = input === 'ctrl-c' ? '\u0003' : input === 'ctrl-d' ? '\u0004' : `${input}\n`;
  return (await pipeIn(process, keys)) ?? finished(`[written to ${process.id}; poll shows what it answers]`);
}

/** Null if all of it was taken. */
async function pipeIn(process: BackgroundProcess, text: string): Promise<ToolOutcome | null> {
  const path = join(process.spool.folder, `${process.callId}.in`);
  try {
    const pipe = await open(path, constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
    try {
      const bytes = Buffer.from(text);
      const { bytesWritten } = await pipe.write(bytes);
      if (bytesWritten === bytes.length) return null;
      return failed(`${process.id} took only ${bytesWritten} bytes of it: it does not read its input.`);
    } finally {
      await pipe.close();
    }
  } catch (error) {
    if (hasCode(error, 'EAGAIN')) return failed(`${process.id} does not read its input; nothing was written.`);
    if (hasCode(error, 'ENXIO') || hasCode(error, 'ENOENT')) {
      return failed(`${process.id} has no input any more: it was closed, or given with stdin at the start.`);
    }
    throw error;
  }
}

async function kill(clock: Clock, process: BackgroundProcess, signal: (typeof signals)[number]): Promise<ToolOutcome> {
  if ((await processState(process)).kind !== 'running') return finished(await summary(clock, process));
  const host = await hostOf(process);
  if (signal !== 'TERM' && signal !== 'KILL' && host !== null) return signalled(process, host, signal);
  await process.spool.writeCut('abort');
  await endCommand(clock, process.spool, host);
  return finished(await summary(clock, process));
}

async function signalled(process: BackgroundProcess, host: SessionHost, signal: string): Promise<ToolOutcome> {
  const group = await process.spool.readBegun();
  const isTold = group !== null && (await tellHost(host, `signal ${process.callId} ${signal} ${group}`));
  return isTold ? finished(`[SIG${signal} sent to ${process.id}]`) : failed(`${process.id} can't be reached.`);
}

async function told(process: BackgroundProcess, output: string): Promise<ToolOutcome> {
  const text = [output, stateText(await processState(process))].filter((line) => line !== '').join('\n');
  return process.isOnline ? { kind: 'finished', text, untrusted: 'web' } : finished(text);
}

async function hostOf({ spool, spoolFolder }: BackgroundProcess): Promise<SessionHost | null> {
  const name = (await spool.readRequest())?.host;
  return name === undefined ? null : openHost(spoolFolder, name);
}

/** What somebody still looks after does not count as idle. */
async function markUsed(clock: Clock, process: BackgroundProcess): Promise<void> {
  const host = await hostOf(process);
  const now = new Date(clock.now());
  if (host !== null && (await stat(host.folder).catch(() => null)) !== null) await utimes(host.folder, now, now);
}

function finished(text: string): ToolOutcome {
  return { kind: 'finished', text };
}

function failed(text: string): ToolOutcome {
  return { kind: 'failed', text };
}
