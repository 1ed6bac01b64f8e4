/**
 * Runs one command in a shell with a process group of its own, and hands on what it prints as it comes, stdout and
 * stderr in one stream. When it returns, the command has ended; only what the command itself put into the background
 * may go on. It never throws for anything a command can do, and knows nothing of how a result is worded.
 */
import type { ChildProcess } from 'node:child_process';
import type { Readable } from 'node:stream';
import { present } from '../../lib/assert.ts';
import type { Clock } from '../../lib/clock.ts';
import { endProcessGroup } from './process-group.ts';

/** How long output may follow after the command's own end before what still holds the pipe counts as background. */
const drainMs = 200;
/** A process that even SIGKILL does not end at once hangs in the kernel; nobody waits for that. */
const killedWaitMs = 2_000;

export interface CommandRequest {
  readonly command: string;
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Whole characters only. Not called after the result is there. */
  readonly onText: (text: string) => void;
}

export type CommandResult =
  | { readonly kind: 'not-started'; readonly error: unknown }
  | {
      readonly kind: 'ended';
      /** Null if a signal ended it. */
      readonly exitCode: number | null;
      readonly signal: string | null;
      /** Why it was ended from here, or null if it ended by itself. */
      readonly cut: 'timeout' | 'abort' | null;
      /** Something still holds the pipe and goes on. */
      readonly leftRunning: boolean;
    };

export async function runCommand(clock: Clock, request: CommandRequest): Promise<CommandResult> {
  const started = await startShell(request);
  if (started.kind === 'not-started') return started;
  const { child, exited, drained } = started;

  const cut = await cutOrExit(clock, request, exited);
  if (cut !== null) {
    await endProcessGroup(clock, present(child.pid, 'the id of a started process'));
    await isWithin(clock, killedWaitMs, exited);
  }
  const leftRunning = !(await isWithin(clock, drainMs, drained));
  started.stopListening();
  if (leftRunning) letGo(child);
  return { kind: 'ended', exitCode: child.exitCode, signal: child.signalCode, cut, leftRunning };
}

interface Started {
  readonly kind: 'started';
  readonly child: ChildProcess;
  readonly exited: Promise<unknown>;
  /** The pipe is closed at the other end too. */
  readonly drained: Promise<unknown>;
  readonly stopListening: () => void;
}

/** Joins stderr to stdout before the real shell starts: one pipe keeps the order in which things were printed. */
const launcher = 'if command -v bash >/dev/null; then exec bash -c "$1" 2>&1; else exec sh -c "$1" 2>&1; fi';

async function startShell(request: CommandRequest): Promise<Started | { kind: 'not-started'; error: unknown }> {
  const { spawn } = process.getBuiltinModule('node:child_process');
  try {
    const child = spawn('/bin/sh', ['-c', launcher, 'sh', request.command], {
      cwd: request.cwd,
      env: request.environment,
      // A group, and a session without a terminal, in which nothing can wait for a password.
      detached: true,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const stopListening = listen(child.stdout, request.onText);
    const exited = new Promise((resolve) => child.once('exit', resolve));
    const drained = new Promise((resolve) => child.once('close', resolve));
    await new Promise<void>((resolve, reject) => child.once('spawn', resolve).on('error', reject));
    return { kind: 'started', child, exited, drained, stopListening };
  } catch (error) {
    return { kind: 'not-started', error };
  }
}

/** Decodes across the borders of chunks. Once stopped, the pipe is read on and thrown away. */
function listen(pipe: Readable, onText: (text: string) => void): () => void {
  const decoder = new TextDecoder();
  let isListening = true;
  const hand = (text: string) => {
    if (text !== '') onText(text);
  };
  pipe.on('data', (chunk: Uint8Array) => {
    if (isListening) hand(decoder.decode(chunk, { stream: true }));
  });
  return () => {
    isListening = false;
    hand(decoder.decode());
  };
}

/** What goes on in the background would die of a closed pipe: it stays open, but keeps nobody from leaving. */
function letGo(child: ChildProcess): void {
  child.unref();
  const pipe: (Readable & { unref?: () => void }) | null = child.stdout;
  pipe?.unref?.();
}

function cutOrExit(
  clock: Clock,
  request: CommandRequest,
  exited: Promise<unknown>,
): Promise<'timeout' | 'abort' | null> {
  const { signal, timeoutMs } = request;
  return new Promise((resolve) => {
    const finish = (cut: 'timeout' | 'abort' | null) => {
      cancelTimer();
      signal.removeEventListener('abort', onAbort);
      resolve(cut);
    };
    const onAbort = () => finish('abort');
    const cancelTimer = clock.setTimer(timeoutMs, () => finish('timeout'));
    void exited.then(() => finish(null));
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort);
  });
}

function isWithin(clock: Clock, limitMs: number, event: Promise<unknown>): Promise<boolean> {
  return new Promise((resolve) => {
    const cancelTimer = clock.setTimer(limitMs, () => resolve(false));
    void event.then(() => {
      cancelTimer();
      resolve(true);
    });
  });
}
