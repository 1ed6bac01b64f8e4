/**
 * Tells a session when a background process ends or prints what it was started to be watched for: once, also if it
 * happened while Talaria was not there. Costs nothing while nothing is watched. What is asked for is kept with the
 * process; here is only who looks.
 */
import { watch, type FSWatcher } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { isId } from '../../lib/ids.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import type { SessionId } from '../../protocol/ids.ts';
import { createEscapeStripper } from '../escape-stripper.ts';
import type { TellSession } from '../tool.ts';
import { linePattern } from './line-pattern.ts';
import { followOutput, readToEnd } from './output-follower.ts';
import { findProcess, isNotified, listProcesses, processState, writeNotified } from './process-table.ts';
import type { BackgroundProcess, ProcessState } from './process-table.ts';
import { lastLines, oneLine, stateWords } from './process-words.ts';

/** After a change this long, so that many changes are one look. */
const settleMs = 150;
/** A process that was killed with its supervisor changes no file any more. */
const slowLookMs = 15_000;
const lineCharsMax = 4_000;
const lastLinesTold = 20;

export interface ProcessWatch {
  /** Looks at all that earlier processes of Talaria were to watch. */
  start(): Promise<void>;
  /** From now on this one too; for one that nothing is to be told about, nothing happens. */
  add(spoolFolder: string, id: string): void;
  /** Nobody is told anything after it. */
  close(): void;
}

export interface ProcessWatchDeps {
  readonly clock: Clock;
  readonly log: Log;
  /** Holds a folder for each session. */
  readonly spoolRoot: string;
  readonly tell: TellSession;
}

export function createProcessWatch(deps: ProcessWatchDeps): ProcessWatch {
  const watched = new Map<string, Watched>();
  let isClosed = false;
  const add = async (spoolFolder: string, id: string) => {
    const sessionId = basename(spoolFolder);
    const key = join(spoolFolder, id);
    if (isClosed || watched.has(key) || !isId('ses', sessionId)) return;
    const process = await findProcess(spoolFolder, id);
    if (process === null || process.notify === null || isClosed || watched.has(key)) return;
    if (await isNotified(process)) return;
    watched.set(key, new Watched(deps, sessionId, process, () => watched.delete(key)));
  };
  const failing = (error: unknown) => deps.log.warn('background process not watched', { error });
  return {
    async start() {
      for (const session of await readdir(deps.spoolRoot).catch(() => [])) {
        const spoolFolder = join(deps.spoolRoot, session);
        for (const { id } of await listProcesses(spoolFolder)) await add(spoolFolder, id);
      }
    },
    add: (spoolFolder, id) => void add(spoolFolder, id).catch(failing),
    close() {
      isClosed = true;
      for (const one of watched.values()) one.close();
      watched.clear();
    },
  };
}

class Watched {
  readonly #deps: ProcessWatchDeps;
  readonly #sessionId: SessionId;
  readonly #process: BackgroundProcess;
  readonly #onDone: () => void;
  readonly #lines: LineWatch;
  #watcher: FSWatcher | null = null;
  #cancelTimer: () => void = () => {};
  #isLooking = false;
  /** Something changed during a look, which may have missed it. */
  #isStale = false;
  #isClosed = false;

  constructor(deps: ProcessWatchDeps, sessionId: SessionId, process: BackgroundProcess, onDone: () => void) {
    this.#deps = deps;
    this.#sessionId = sessionId;
    this.#process = process;
    this.#onDone = onDone;
    this.#lines = watchLines(process);
    try {
      this.#watcher = watch(process.spool.folder, { persistent: false }, () => this.#lookIn(settleMs));
      this.#watcher.on('error', () => {});
    } catch {
      // No more watches to be had, or its folder is gone: the slow looks find it.
    }
    this.#lookIn(0);
  }

  close(): void {
    this.#isClosed = true;
    this.#cancelTimer();
    this.#watcher?.close();
  }

  #lookIn(delayMs: number): void {
    if (this.#isClosed) return;
    if (this.#isLooking) {
      this.#isStale = true;
      return;
    }
    this.#cancelTimer();
    this.#cancelTimer = this.#deps.clock.setTimer(delayMs, () => void this.#look());
  }

  async #look(): Promise<void> {
    this.#isLooking = true;
    this.#isStale = false;
    try {
      const state = await processState(this.#process);
      const line = await this.#lines.next();
      const text = line !== null ? printedText(this.#process, line) : await endText(this.#process, state);
      if (text !== null && !this.#isClosed) await this.#tell(text);
    } catch (error) {
      // The store may be full or busy; what has not been told is told at a later look.
      this.#deps.log.warn('session not told about its process', { error });
    }
    this.#isLooking = false;
    this.#lookIn(this.#isStale ? settleMs : slowLookMs);
  }

  async #tell(text: string): Promise<void> {
    const { id, isOnline } = this.#process;
    const untrusted = isOnline ? { untrusted: 'web' as const } : {};
    await this.#deps.tell({ sessionId: this.#sessionId, id: `process-${this.#process.callId}`, text, ...untrusted });
    await writeNotified(this.#process);
    this.close();
    this.#onDone();
    this.#deps.log.debug('session told about its process', { process: id });
  }
}

function printedText({ id, command }: BackgroundProcess, line: string): string {
  return `[${id} (${oneLine(command)}) printed:]\n${line}`;
}

/** Null while it runs. */
async function endText(process: BackgroundProcess, state: ProcessState): Promise<string | null> {
  if (state.kind === 'running' || state.kind === 'not-begun') return null;
  const { id, command, notify } = process;
  const without = notify === 'exit' ? '' : `, without printing "${notify}"`;
  return `[${id} (${oneLine(command)}) ${stateWords(state)}${without}]\n${await lastLines(process, lastLinesTold)}`;
}

interface LineWatch {
  /** The first line that fits, if it is there by now. */
  next(): Promise<string | null>;
}

function watchLines({ notify, spool }: BackgroundProcess): LineWatch {
  if (notify === null || notify === 'exit') return { next: () => Promise.resolve(null) };
  const fits = linePattern(notify);
  const stripper = createEscapeStripper();
  let rest = '';
  let found: string | null = null;
  const file = (from: number) =>
    followOutput(
      spool.outputPath,
      (text) => {
        const lines = (rest + stripper.push(text)).split(/[\r\n]/);
        rest = (lines.pop() ?? '').slice(-lineCharsMax);
        found ??= lines.map((line) => line.slice(0, lineCharsMax)).find((line) => fits(line)) ?? null;
      },
      from,
    );
  let position = 0;
  return {
    // Not kept open between looks: a thousand idle processes hold no thousand files.
    async next() {
      const output = file(position);
      await readToEnd(output);
      position = output.position();
      await output.close();
      if (found === null && rest !== '' && fits(rest)) found = rest;
      return found;
    },
  };
}
