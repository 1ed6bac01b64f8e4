/** A session with a terminal for tests: real processes, a real sandbox where there is one, and an end to all of it. */
import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../lib/clock.ts';
import { createIdSource } from '../../lib/ids.ts';
import { silentLog } from '../../lib/log.ts';
import { systemRandom } from '../../lib/random.ts';
import type { SessionId } from '../../protocol/ids.ts';
import { fakeToolContext } from '../fake-tool-context.ts';
import type { Sandbox } from '../sandbox.ts';
import type { TellSession, Tool, ToolContext, ToolOutcome } from '../tool.ts';
import { removeSpool } from './spool.ts';
import { noSandbox } from './terminal-deps.ts';
import { createTerminalTools, type TerminalTools, type TerminalToolsDeps } from './terminal-tools.ts';

export const ids = createIdSource({ clock: systemClock, random: systemRandom });

/** Commands run in namespaces of their own, by bubblewrap; enough of a sandbox for what is tested here. */
export const testBubblewrap: Sandbox = {
  level: 'bubblewrap',
  description: 'bubblewrap, for tests',
  gaps: [],
  sharesFiles: true,
  wrap: ({ argv, cwd, env, readable, writable, network }) =>
    Promise.resolve({
      argv: [
        ...'/usr/bin/bwrap --ro-bind / / --tmpfs /tmp --proc /proc --dev /dev --die-with-parent --unshare-pid'.split(
          ' ',
        ),
        ...(network === 'open' ? [] : ['--unshare-net']),
        ...readable.flatMap((folder) => ['--ro-bind', folder, folder]),
        ...writable.flatMap((folder) => ['--bind', folder, folder]),
        '--chdir',
        cwd,
        '--',
        ...argv,
      ],
      env,
    }),
};

export const allowEverything: TerminalToolsDeps['gate'] = {
  consider: () => Promise.resolve({ kind: 'go' }),
  settle: () => Promise.resolve({ kind: 'refuse', text: 'Nothing was asked.' }),
};

export interface TestShell {
  readonly workspace: string;
  readonly spoolRoot: string;
  readonly sessionId: SessionId;
  readonly deps: TerminalToolsDeps;
  readonly tools: TerminalTools;
  readonly told: Parameters<TellSession>[0][];
  context(signal?: AbortSignal): ToolContext;
  /** The text of what `terminal` gives. */
  run(command: string, more?: object): Promise<string>;
  outcome(command: string, more?: object, context?: ToolContext): Promise<ToolOutcome>;
  process(input: object): Promise<string>;
}

export async function testShell(
  t: { after(callback: () => Promise<void>): void },
  options: Partial<TerminalToolsDeps> = {},
  sessionId = ids.next('ses'),
  top?: string,
): Promise<TestShell> {
  const folder = top ?? (await realpath(await mkdtemp(join(tmpdir(), 'talaria-shell-'))));
  const [workspace, spoolRoot] = [join(folder, 'workspace'), join(folder, 'spool')];
  await mkdir(workspace, { recursive: true });
  const told: Parameters<TellSession>[0][] = [];
  const deps: TerminalToolsDeps = {
    clock: systemClock,
    log: silentLog,
    spoolRoot,
    defaultTimeoutMs: 20_000,
    env: { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: '/nowhere' },
    envNames: [],
    folders: [],
    readable: [],
    hidden: [],
    sandbox: () => Promise.resolve(noSandbox),
    allowedHosts: [],
    network: () => Promise.resolve('off'),
    gate: allowEverything,
    judge: () => ({ kind: 'plain' }),
    filesOf: () => [],
    tell: async (note) => void told.push(note),
    ...options,
  };
  const tools = createTerminalTools(deps);
  t.after(async () => {
    tools.watch.close();
    await removeSpool(deps, join(spoolRoot, sessionId));
    await rm(folder, { recursive: true, force: true });
  });
  const [terminal, processes] = tools.tools as readonly [Tool, Tool];
  const context = (signal?: AbortSignal): ToolContext => ({
    ...fakeToolContext(workspace, signal),
    sessionId,
    callId: ids.next('cal'),
    spoolFolder: join(spoolRoot, sessionId),
  });
  const outcome = (command: string, more: object = {}, given = context()) => terminal.run({ command, ...more }, given);
  const textOf = (result: ToolOutcome) => result.text;
  return {
    workspace,
    spoolRoot,
    sessionId,
    deps,
    tools,
    told,
    context,
    outcome,
    run: async (command, more) => textOf(await outcome(command, more)),
    process: async (input) => textOf(await processes.run(input, context())),
  };
}
