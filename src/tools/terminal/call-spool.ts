/**
 * The folder of one call: what was asked for, who runs it, what it printed and how it ended. Talaria writes the request
 * and the outcome, the supervisor the rest (see `supervisor-script.ts`). A file that is not complete yet reads as one that
 * is not there.
 */
import { mkdir, open, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod/mini';
import type { CallId } from '../../protocol/ids.ts';
import type { ToolOutcome } from '../tool.ts';
import { hasCode } from '../workspace-path.ts';
import type { ProcessIdentity } from '../process-identity.ts';

const requestSchema = z.object({
  command: z.string(),
  cwd: z.string(),
  timeoutMs: z.number(),
  deadlineMs: z.number(),
  boot: z.string(),
  /** The host that runs it; none for what its supervisor starts by itself. */
  host: z.optional(z.string()),
  /** What it is called as a background process. */
  process: z.optional(z.string()),
  /** What it printed may have come from the internet. */
  isOnline: z.optional(z.boolean()),
});
export type SpooledRequest = Readonly<z.output<typeof requestSchema>>;

const outcomeSchema = z.union([
  z.object({ kind: z.literal('finished'), text: z.string(), untrusted: z.literal('web') }),
  z.object({ kind: z.enum(['finished', 'failed', 'unknown']), text: z.string() }),
]);

const requestFile = 'request.json';
const outcomeFile = 'outcome.json';

export type Claim = ProcessIdentity & { readonly boot: string };
export type Cut = 'timeout' | 'abort';

export interface CommandExit {
  readonly code: number;
  /** A signal ended it; the code is 128 and its number. */
  readonly bySignal: boolean;
  /** Something of its process group goes on. Only a host can say. */
  readonly leftRunning: boolean | null;
}

export interface CallSpool {
  readonly callId: string;
  readonly folder: string;
  readonly outputPath: string;
  /** On the disk when it resolves: nothing begins without a trace. */
  writeRequest(request: SpooledRequest): Promise<void>;
  readRequest(): Promise<SpooledRequest | null>;
  /** `incomplete`: somebody took it and has not said who they are. */
  readClaim(): Promise<Claim | 'incomplete' | null>;
  /** Keeps any supervisor from starting the command from now on; false if one was first. */
  takeClaim(): Promise<boolean>;
  /** The process group of the command, and the process that leads it. */
  readGroup(): Promise<{ readonly group: number; readonly leader: ProcessIdentity } | null>;
  /** The process group of a command that a host started, as the sandbox numbers it; null if it has not begun. */
  readBegun(): Promise<number | null>;
  readExit(): Promise<CommandExit | null>;
  writeCut(cut: Cut): Promise<void>;
  readCut(): Promise<Cut | null>;
  /** Whoever attaches later is told the same. */
  writeOutcome(outcome: ToolOutcome): Promise<void>;
  readOutcome(): Promise<ToolOutcome | null>;
}

export function callSpool(spoolFolder: string, callId: CallId): CallSpool {
  return openSpool(join(spoolFolder, callId), callId);
}

export function openSpool(folder: string, callId: string): CallSpool {
  const lines = (name: string) => completeLines(join(folder, name));
  return {
    callId,
    folder,
    outputPath: join(folder, 'output'),
    async writeRequest(request) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const file = await open(join(folder, requestFile), 'w', 0o600);
      try {
        await file.writeFile(`${JSON.stringify(request)}\n`);
        await file.sync();
      } finally {
        await file.close();
      }
    },
    readRequest: async () => parsed(requestSchema, await lines(requestFile)),
    async readClaim() {
      const found = await lines('claim');
      if (found === null || found === 'incomplete') return found;
      const [pid = '', start = '', boot = ''] = found;
      return { pid: Number(pid), start, boot };
    },
    async takeClaim() {
      try {
        await writeFile(join(folder, 'claim'), '0\nnobody\n\n', { flag: 'wx', mode: 0o600 });
        return true;
      } catch (error) {
        if (hasCode(error, 'EEXIST')) return false;
        throw error;
      }
    },
    async readGroup() {
      const found = await lines('group');
      if (!Array.isArray(found)) return null;
      const [group = '', pid = '', start = ''] = found;
      return { group: Number(group), leader: { pid: Number(pid), start } };
    },
    async readBegun() {
      const found = await lines('begun');
      return Array.isArray(found) ? Number(found[0] ?? '') : null;
    },
    async readExit() {
      const found = await lines('exit');
      if (!Array.isArray(found)) return null;
      const [code = '', by = ''] = (found[0] ?? '').split(' ');
      const leftRunning = found[1] === undefined ? null : found[1] === '1';
      return { code: exitCode(code), bySignal: by === 'signal', leftRunning };
    },
    writeCut: (cut) => writeFile(join(folder, 'cut'), `${cut}\n`, { mode: 0o600 }),
    async readCut() {
      const found = await lines('cut');
      const cut = Array.isArray(found) ? found[0] : null;
      return cut === 'timeout' || cut === 'abort' ? cut : null;
    },
    writeOutcome: (outcome) => writeFile(join(folder, outcomeFile), `${JSON.stringify(outcome)}\n`, { mode: 0o600 }),
    readOutcome: async () => parsed(outcomeSchema, await lines(outcomeFile)),
  };
}

/** It may have come out of the sandbox. */
function exitCode(text: string): number {
  return /^\d{1,3}$/.test(text) ? Number(text) : 1;
}

async function completeLines(path: string): Promise<string[] | 'incomplete' | null> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return null;
    throw error;
  }
  return text.endsWith('\n') ? text.slice(0, -1).split('\n') : 'incomplete';
}

function parsed<Schema extends z.ZodMiniType>(
  schema: Schema,
  lines: string[] | 'incomplete' | null,
): z.output<Schema> | null {
  if (!Array.isArray(lines)) return null;
  try {
    return schema.parse(JSON.parse(lines.join('\n')));
  } catch {
    // The machine went down while it was written.
    return null;
  }
}
